"""Which addresses act, and which are only named so: both kinds as they stand on the web."""

from __future__ import annotations

import pytest

from browser.observation import Link
from browser.speculation.effect_path import begins_with_effect, has_effect, is_effect
from browser.speculation.gate import refusal

ACTING = """
/logout
/users/sign_out
/accounts/logout/
/Account/LogOff
/customer/account/logout/
/oauth2/sign_out
/connect/endsession
/wiki/logout.action
/docs/sign-out
/doLogout
/session/userLogout
/cart
/cart.php
/my-cart
/shopping-cart
/docs/shopping-cart
/cart/add?id=794864229
/cart/change?line=1&quantity=0
/checkout/cart/delete/id/42/
/add-to-cart/7
/shop/addToCart/7
/ox-cart/add/3
/products/1999/add-to-cart
/removeFromCart?sku=9
/panier/ajouter/12
/mon-panier
/delete?id=5
/posts/5/delete
/posts/5/delete-post
/posts/2024/delete-post
/posts/delete-post/5
/articles/3f2b9c1e-77aa-4d0e-9f10-2b1c5c0d7a11/remove-article
/blog/delete-post?id=5
/posts/delete-all
/help/delete-my-account
/deleteUser?id=3
/item_delete?id=7
/admin-tools/user-remove/3
/comments/9/like
/vote-up/31
/user/3/unfollow
/friends/accept/33
/orders/5/cancel-and-refund
/orders/7/cancel
/newsletter/subscriber/unsubscribe
/blog/unsubscribe-me
/unsubscribe-from-all-of-our-letters
/wishlist/index/add/product/5
/set-language/de
/accounts/password_reset/
/confirm-email/MQ
/auth/callback
/#/logout
/posts/hello-world/delete-post
/posts/delete-post-123
/forum/posts/p7/upvote-comment
/post/delete-comment;id=5
/lists/remove-member-of-group-5
/settings/delete-an-account
/account/remove-a-payment-method
/account/cancel-my-subscription-to-the-newsletter
/app#delete-item?id=5
/app#!/cart/empty
/app#logout
/app#delete/5
"""

READING = """
/blog/building-a-shopping-cart
/docs/go-cart
/products/golf-cart
/toys/ox_cart.html
/crafts/wicker-basket
/crafts/how-to-weave-a-basket
/wiki/Go-cart
/wiki/Like_a_Rolling_Stone
/wiki/Cart_(disambiguation)
/wiki/Delete_key
/blog/cancel-culture
/2024/05/cancel-culture
/2024/05/12/pay-gap/
/blog/2024/05/reset-css
/news/donate-blood-week
/news/vote-counting-goes-on
/buying/buy-vs-rent
/money/why-people-donate
/how-to-unsubscribe
/follow-the-white-rabbit-through-town
/help/cancel-subscription
/docs/git-checkout
/docs/git-reset
/docs/15/sql-delete.html
/sql-delete.html
/docs/reference/kubectl/kubectl-delete/
/docs/reference/delete-statement
/guides/accept-payments
/docs/user-login
/en/handbook/follow-up
/tutorials/react-shopping-cart
/tutorial/ShoppingCart-basics
/research/cartography
/payroll
/likelihood
/removed-features
/additives
/basketball
/docs/http.html#delete-user
/docs/http.html#api
/#/docs/delete-statement
/#/Reference/Reply?id=remove-header
"""


def _refusal(address: str) -> str | None:
    link = Link(number=1, text="More", url=f"https://example.org{address}")
    return refusal(link, page_url="https://example.org/start")


@pytest.mark.parametrize("address", ACTING.split())
def test_an_address_that_acts_is_refused(address: str) -> None:
    assert _refusal(address) == "effect-path"


@pytest.mark.parametrize("address", READING.split())
def test_a_page_that_is_only_named_so_is_read(address: str) -> None:
    assert _refusal(address) is None


def test_a_query_may_name_what_a_title_would_not() -> None:
    assert not has_effect("/blog/cancel-culture", is_asked=False)
    assert has_effect("/blog/cancel-culture", is_asked=True)


def test_a_name_alone_acts_where_it_needs_no_object() -> None:
    assert all(map(is_effect, ("logout", "signOut", "deleteAccount")))
    assert not any(map(is_effect, ("delete-key", "go-cart")))


def test_a_query_is_judged_by_how_it_begins() -> None:
    assert begins_with_effect("delete-key")
    assert not begins_with_effect("go-cart")
