from plimsoll.locust.contrib.mqtt import MqttClient, MqttUser, PublishedMessageContext

__all__ = ["MqttClient", "MqttUser", "PublishedMessageContext"]
