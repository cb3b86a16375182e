"""The port for services of a server that does not lead."""

import http.client
import unittest

from servers import Servers, ServersTest, free_port


class TwoServers(Servers):
    """Both with a port for services, at two addresses of this machine."""

    def __init__(self):
        self.services_port = free_port()
        super().__init__()

    def server_config(self, server):
        listen = f'http: "127.0.0.1:{server.http}"'
        services = f'services: "127.0.0.{server.number + 1}:{self.services_port}"'
        return super().server_config(server).replace(listen, f"{listen}, {services}")

    def ask_services(self, server, path):
        """Status and Location of the answer."""
        own = http.client.HTTPConnection(f"127.0.0.{server.number + 1}", self.services_port, timeout=30)
        own.request("GET", path, headers={"Host": f"hai:{self.services_port}"})
        answer = own.getresponse()
        answer.read()
        own.close()
        return answer.status, answer.headers["Location"]


class ServiceStandbyTest(ServersTest):
    make = TwoServers

    def test_a_standby_sends_browsers_on_to_the_leader(self):
        leader, standby = self.cluster.leader(), self.cluster.standby()
        there = f"http://127.0.0.1:{self.cluster.services_port}/jobs/1/web/sub?x=1"
        self.assertEqual(self.cluster.ask_services(standby, "/jobs/1/web/sub?x=1"), (307, there))
        self.assertEqual(self.cluster.ask_services(leader, "/jobs/1/web/"), (401, None))


if __name__ == "__main__":
    unittest.main()
