"""The API of the forum."""

from typing import Any

from django.db.models import Count, QuerySet
from django.http import HttpRequest, JsonResponse
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ModelViewSet

from ..accounts.client import images
from .models import Account, Comment, Thread
from .serializers import CommentSerializer, ThreadSerializer

PAGE = 20


class _WithImages(ModelViewSet):
    """Each author of a reply has a profile image, which comes from the accounts API."""

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows = self.get_serializer(self.get_queryset()[:PAGE], many=True).data
        return Response(_with_images(rows))

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(_with_images([self.get_serializer(self.get_object()).data])[0])


class ThreadViewSet(_WithImages):
    serializer_class = ThreadSerializer

    def get_queryset(self) -> QuerySet[Thread]:
        threads = Thread.objects.select_related("author").annotate(comment_count=Count("comments")).order_by("-created")
        course = self.request.query_params.get("course")
        return threads.filter(course=course) if course else threads


class CommentViewSet(_WithImages):
    serializer_class = CommentSerializer

    def get_queryset(self) -> QuerySet[Comment]:
        comments = Comment.objects.select_related("author").order_by("created")
        thread = self.request.query_params.get("thread")
        return comments.filter(thread=thread) if thread else comments


@api_view(["POST"])
def auto_auth(request: Request) -> Response:
    account = Account.objects.get(id=request.query_params["user"])
    return Response({"id": account.id, "name": account.name})


def count_comments(request: HttpRequest) -> JsonResponse:
    """Used by experiments."""
    return JsonResponse(Comment.objects.count(), safe=False)


def _with_images(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = images(row["author"] for row in rows)
    return [{**row, "image": found.get(row["author"], "")} for row in rows]
