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
const parts = /^(?<protocol>[^:]+:\/\/)(?:[^:]+:[^@]+@)?(?<hosts>[^?]*)(?:\?(?<options>.*))?$/s

/**
 * The client would ignore another option, and print the whole connection string, password and all, to say so.
 * @throws Error that names the option
 */
export function refuseUnsupportedOptions(connectionString: string): void {
  const options = parts.exec(connectionString)?.groups?.options ?? ''
  for (const option of options.split(/[?&]/)) {
    const key = option.split('=')[0]?.trim() ?? ''
    if (key === '' || supportedOptions.has(key.toLowerCase().replaceAll(/[_-]/g, ''))) continue
    throw new Error(`The event store's connection string has an option that the client does not support: ${key}`)
  }
}

/** Where it leads to: without user, password and options, which have no place in what is shown or kept. */
export function withoutCredentials(connectionString: string): string {
  const { protocol = '', hosts = '' } = parts.exec(connectionString)?.groups ?? {}
  return `${protocol}${hosts.replace(/\/+$/, '')}`
}
