// Checks a connection string before the client gets it, and handles its credentials.

/** The options of @eventstore/db-client 6.2.1, normalised. It also accepts tlsVerifyCert, but without any effect. */
const supportedOptions = new Set([
  'usercertfile',
  'userkeyfile',
  'maxdiscoverattempts',
  'connectionname',
  'defaultdeadline',
  'discoveryinterval',
  'gossiptimeout',
  'nodepreference',
  'tls',
  'tlscafile',
  'throwonappendfailure',
  'keepaliveinterval',
  'keepalivetimeout',
])

/** Split the way the client does: a password may contain anything but an @. */
const parts = /^(?<protocol>[^:]+:\/\/)(?:(?<user>[^:]+):(?<password>[^@]+)@)?(?<hosts>[^?]*)(?:\?(?<options>.*))?$/s
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?$/

/**
 * Rejects unknown options: the client would ignore them, and print the whole connection string with its password.
 * @throws Error that names the option
 */
export function assertSupportedOptions(connectionString: string): void {
  const options = parts.exec(connectionString)?.groups?.options ?? ''
  for (const option of options.split(/[?&]/)) {
    const key = option.split('=')[0]?.trim() ?? ''
    if (key === '' || supportedOptions.has(key.toLowerCase().replaceAll(/[_-]/g, ''))) continue
    throw new Error(`The event store's connection string has an option that the client does not support: ${key}`)
  }
}

/**
 * Separates credentials that are used without TLS. The client silently drops them, because EventStoreDB accepts none
 * without TLS. The embedded event store does, and it runs on this machine.
 * @returns the connection string for the client, and the header to send with every call if the client would send none
 * @throws Error when the credentials would leave this machine in plain text
 */
export function splitPlainCredentials(connectionString: string): { address: string; authorization?: string } {
  const credentials = credentialsOf(connectionString)
  const { protocol = '', hosts = '', options = '' } = parts.exec(connectionString)?.groups ?? {}
  if (credentials === undefined || !/(?:^|&)\s*tls\s*=\s*false\s*(?:&|$)/i.test(options))
    return { address: connectionString }
  const host = hosts.replace(/\/+$/, '')
  if (protocol !== 'esdb://' || !loopback.test(host))
    throw new Error(
      `The event store's credentials would be sent without encryption to ${host}: use tls=true, or leave them out`,
    )
  return {
    address: `${protocol}${hosts}?${options}`,
    authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`,
  }
}

export type Credentials = { readonly user: string; readonly password: string }

/** The credentials in a connection string, if any. */
export function credentialsOf(connectionString: string): Credentials | undefined {
  const { user, password } = parts.exec(connectionString)?.groups ?? {}
  if (user === undefined || password === undefined) return undefined
  return { user: decodeURIComponent(user), password: decodeURIComponent(password) }
}

/** The address alone, for logs and files: without user, password and options. */
export function withoutCredentials(connectionString: string): string {
  const { protocol = '', hosts = '' } = parts.exec(connectionString)?.groups ?? {}
  return `${protocol}${hosts.replace(/\/+$/, '')}`
}
