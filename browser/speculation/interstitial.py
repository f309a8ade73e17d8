"""Tells the page that a site puts before the one asked for: a captcha, a check of the browser, a block of robots.

Invariant: the next visit may be let through, so such a page stands for no other. Taking a page of the site for one
costs a load ahead; taking one for a page of the site could cost an answer.
"""

from __future__ import annotations

import re

from browser.observation import Document

# An article about captchas is longer than a captcha.
_MAX_CHARACTERS = 2_000

# Whole titles. Cloudflare's first, in the languages of its own pages; then DDoS-Guard, Anubis, Vercel, Imperva, HUMAN,
# AWS WAF, Fastly, Amazon, Walmart and Baidu; the rest is in general use.
_TITLE = re.compile(
    r"just a moment|nur einen moment|un instant|un momento|um momento|één moment|один момент|请稍候|請稍候"
    r"|しばらくお待ちください|잠시만 기다리십시오|attention required! \| cloudflare|access denied \| .* cloudflare .*"
    r"|ddos-guard|making sure you're not a bot|vercel security checkpoint|pardon our interruption"
    r"|access to this page has been denied|human verification|client challenge|robot check|robot or human"
    r"|百度安全验证|安全验证|访问验证|人机验证|验证码"
    r"|captcha( (check|challenge|verification))?|(security|browser|bot) (check|verification|challenge)"
    r"|checking your browser( .*)?|(please )?verify(ing)? (that )?you are (a )?human|are you (a )?(human|robot)",
    re.IGNORECASE,
)

# Sentences of pages whose title is the site's own, or none.
_TEXT = re.compile(
    r"(verify(ing)?|confirm) (that )?you are (a )?human|prove (that )?you('re| are) not a robot"
    r"|checking (if the site connection is secure|your browser before accessing)"
    r"|enter the characters you see below|unusual traffic from your computer network"
    r"|incapsula incident id|press (& |and )hold to confirm|please enable js and disable any ad blocker"
    r"|complete the (captcha|security check) (below )?to|请完成(下方|以下|安全)?验证|拖动滑块",
    re.IGNORECASE,
)


def is_interstitial(document: Document) -> bool:
    """Tell whether the page only stands before the one asked for."""
    if len(document.markdown) > _MAX_CHARACTERS:
        return False
    title = document.title.strip().replace("\u2019", "'").rstrip(".!?… ")
    return bool(_TITLE.fullmatch(title) or _TEXT.search(document.markdown))
