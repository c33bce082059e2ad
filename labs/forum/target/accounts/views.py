"""GET /api/accounts/?usernames=a,b,c"""

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from ..forum.models import Account


class AccountViewSet(ViewSet):
    def list(self, request: Request) -> Response:
        names = request.query_params.get("usernames", "").split(",")
        found = Account.objects.filter(name__in=names).values("name", "image", "bio")
        return Response(list(found))
