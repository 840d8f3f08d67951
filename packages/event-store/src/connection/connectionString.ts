// What is looked at in a connection string before the client gets it.

/**
 * What @eventstore/db-client 6.2.1 has an ear for, in any case, with hyphens and underscores. It also knows tlsVerifyCert, only
 * to say that it has no effect.
 */
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

/** As the client cuts it: a password may hold everything but an @. */
const parts = /^(?<protocol>[^:]+:\/\/)(?:(?<user>[^:]+):(?<password>[^@]+)@)?(?<hosts>[^?]*)(?:\?(?<options>.*))?$/s
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?$/

/**
 * The client would ignore another option, and print the whole connection string, password and all, to say so.
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
 * The client drops credentials in silence when there is no TLS, where EventStoreDB takes none. The embedded event store does,
 * and is on this machine: nothing that is sent to it can be overheard.
 * @returns the connection string for the client, and the header to send with every call where the client would send none
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

/** Who logs in; nothing when a connection string does not say. */
export function credentialsOf(connectionString: string): Credentials | undefined {
  const { user, password } = parts.exec(connectionString)?.groups ?? {}
  if (user === undefined || password === undefined) return undefined
  return { user: decodeURIComponent(user), password: decodeURIComponent(password) }
}

/** Where it leads to: without user, password and options, which have no place in what is shown or kept. */
export function withoutCredentials(connectionString: string): string {
  const { protocol = '', hosts = '' } = parts.exec(connectionString)?.groups ?? {}
  return `${protocol}${hosts.replace(/\/+$/, '')}`
}
