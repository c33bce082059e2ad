"""Routes of the forum and of the accounts API. Each process serves one of them; with `shared`, one process serves
both."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from .accounts.views import AccountViewSet
from .forum.views import CommentViewSet, ThreadViewSet, auto_auth, count_comments

router = SimpleRouter()
router.register("threads", ThreadViewSet, basename="thread")
router.register("comments", CommentViewSet, basename="comment")
router.register("accounts", AccountViewSet, basename="account")

urlpatterns = [
    path("api/", include(router.urls)),
    path("api/auto_auth/", auto_auth),
    path("_comments", count_comments),
]
