"""``memfold hook``: one event of a host whose hooks are processes; start-up time is the product."""
