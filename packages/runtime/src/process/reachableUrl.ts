/**
 * The URL of a server for programs on this machine.
 * @param host as in HOST; a wildcard address becomes the loopback address
 */
export function reachableUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
