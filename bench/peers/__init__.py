"""What others do for a hook, as plainly as it can be written: programs that measurements run beside ours."""
