"""The format of requests and responses."""

from rest_framework import serializers

from .models import Comment, Thread


class ThreadSerializer(serializers.ModelSerializer):
    author = serializers.CharField(source="author.name", read_only=True)
    author_id = serializers.IntegerField(write_only=True)
    comments = serializers.IntegerField(source="comment_count", read_only=True, default=0)

    class Meta:
        model = Thread
        fields = ("id", "course", "author", "author_id", "title", "body", "created", "comments")


class CommentSerializer(serializers.ModelSerializer):
    author = serializers.CharField(source="author.name", read_only=True)
    author_id = serializers.IntegerField(write_only=True)
    thread = serializers.IntegerField(source="thread_id")
    parent = serializers.IntegerField(source="parent_id", required=False, allow_null=True)

    class Meta:
        model = Comment
        fields = ("id", "thread", "parent", "author", "author_id", "body", "created")
