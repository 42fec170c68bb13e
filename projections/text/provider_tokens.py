"""What tokens of known providers look like (SPEC 7.3, and more of the kind): a prefix that is theirs, and a length."""

from __future__ import annotations

__all__ = ["BEYOND", "PROMISED"]

# A body that holds `-`, behind which a word may begin, holds `_` too: else an underscore at its end would deny the
# whole match, and it would be read again from each beginning in it (`xoxb-xoxb-xoxb-…_`).
_BODY = "[A-Za-z0-9_-]"
_LONG = _BODY + "{20,}+"
_PLAIN = "[A-Za-z0-9]{20,}+"

PROMISED = (
    r"gh[pousr]_[A-Za-z0-9_]{16,}+",
    r"github_pat_[A-Za-z0-9_]{16,}+",
    rf"glpat-{_BODY}{{16,}}+",
    rf"xox[bpas]-{_BODY}{{10,}}+",
    rf"sk-{_BODY}{{16,}}+",
    r"[spr]k_live_[A-Za-z0-9]{16,}+",
    rf"AIza{_BODY}{{30,}}+",
    r"npm_[A-Za-z0-9]{20,}+",
    r"hf_[A-Za-z0-9]{20,}+",
    rf"pypi-{_BODY}{{16,}}+",
    r"A(?:KIA|SIA)[A-Z0-9]{16,}+",
)
"""Those of SPEC 7.3."""

BEYOND = {
    "xapp-": _BODY + "{10,}+",  # Slack
    **dict.fromkeys(("xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxr-"), _BODY + "{10,}+"),
    **dict.fromkeys(("glrt-", "gldt-", "glptt-", "glcbt-", "glft-", "glimt-", "glsoat-"), _BODY + "{16,}+"),  # GitLab
    "SG.": _BODY + r"{16,}+\." + _BODY + "{16,}+",  # SendGrid
    **dict.fromkeys(("dop_v1_", "doo_v1_", "dor_v1_"), _PLAIN),  # DigitalOcean
    **dict.fromkeys(("shpat_", "shpca_", "shppa_", "shpss_"), _PLAIN),  # Shopify
    **dict.fromkeys(("sk_test_", "rk_test_", "whsec_"), _PLAIN),  # Stripe
    "lin_api_": _PLAIN,  # Linear
    "dckr_pat_": _LONG,  # Docker
    **dict.fromkeys(("glsa_", "glc_"), _LONG),  # Grafana
    "ATATT3x": _LONG,  # Atlassian
    "AGE-SECRET-KEY-1": _PLAIN,
    **dict.fromkeys(("hvs.", "hvb."), _LONG),  # Vault
    **dict.fromkeys(("ya29.", "GOCSPX-"), _LONG),  # Google
    **dict.fromkeys(("sntrys_", "sntryu_"), _LONG),  # Sentry
    "gsk_": _PLAIN,  # Groq
    "nvapi-": _LONG,  # NVIDIA
    "PMAK-": _LONG,  # Postman
    "figd_": _LONG,  # Figma
    "rubygems_": _PLAIN,
    "ntn_": _PLAIN,  # Notion
    "sbp_": _PLAIN,  # Supabase
}
"""Further ones, whose prefix no other word has: prefix → what follows it. They are looked for where a prefix stands."""
