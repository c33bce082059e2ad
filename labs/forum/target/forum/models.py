"""Threads and comments. The indexes of the new build are only in migration 0002, so that both builds have the same
models."""

from django.db import models


class Account(models.Model):
    name = models.CharField(max_length=40, unique=True)
    image = models.CharField(max_length=100)
    bio = models.TextField()


class Thread(models.Model):
    course = models.IntegerField()
    author = models.ForeignKey(Account, models.CASCADE, db_index=False)
    title = models.CharField(max_length=200)
    body = models.TextField()
    created = models.DateTimeField(auto_now_add=True)


class Comment(models.Model):
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="comments", db_index=False)
    parent = models.ForeignKey("self", models.CASCADE, null=True, related_name="children", db_index=False)
    author = models.ForeignKey(Account, models.CASCADE, db_index=False)
    body = models.TextField()
    created = models.DateTimeField(auto_now_add=True)
