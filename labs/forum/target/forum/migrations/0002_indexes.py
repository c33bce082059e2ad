"""The new build: four indexes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = (("forum", "0001_initial"),)
    operations = (
        migrations.RunSQL(
            [
                "CREATE INDEX thread_course ON forum_thread (course, created DESC)",
                "CREATE INDEX comment_thread ON forum_comment (thread_id, created)",
                "CREATE INDEX comment_parent ON forum_comment (parent_id)",
                "CREATE INDEX comment_author ON forum_comment (author_id)",
            ],
            ["DROP INDEX thread_course, comment_thread, comment_parent, comment_author"],
        ),
    )
