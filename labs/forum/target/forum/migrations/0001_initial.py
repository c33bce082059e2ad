"""The old build: tables with their primary keys."""

import django.db.models.deletion
from django.db import migrations, models


def _reference(to, **more):
    return models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=to, **more)


def _key():
    return ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"))


class Migration(migrations.Migration):
    initial = True
    operations = (
        migrations.CreateModel(
            "Account",
            [
                _key(),
                ("name", models.CharField(max_length=40, unique=True)),
                ("image", models.CharField(max_length=100)),
                ("bio", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            "Thread",
            [
                _key(),
                ("course", models.IntegerField()),
                ("author", _reference("forum.account")),
                ("title", models.CharField(max_length=200)),
                ("body", models.TextField()),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            "Comment",
            [
                _key(),
                ("thread", _reference("forum.thread", related_name="comments")),
                ("parent", _reference("forum.comment", null=True, related_name="children")),
                ("author", _reference("forum.account")),
                ("body", models.TextField()),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
        ),
    )
