// Where a program on this machine reaches a server, from the address that the server listens on.

/** @param host as in HOST: an address that listens everywhere is reached on the loopback interface */
export function reachableUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
