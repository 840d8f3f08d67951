// Reads connection strings of the event store, for every variable and option that holds one.
import { accessSync, constants } from 'node:fs'
import { BadVariable, readBy } from '@paylog/runtime/config/kinds'

/** A node of the event store, as `host:port`. */
export type Endpoint = string

export type Credentials = { readonly user: string; readonly password: string }

export type ConnectionString = {
  /** The nodes that it names: at least one. */
  readonly hosts: readonly Endpoint[]
  /** Whether the leader has to be found: the string names several nodes, or a name to discover them by. */
  readonly isCluster: boolean
  readonly credentials: Credentials | undefined
  readonly isEncrypted: boolean
  /** By normalised name, such as `gossiptimeout`. */
  readonly options: ReadonlyMap<string, string>
}

const flags = ['true', 'false']
const isWhole = (value: string) => /^\d{1,9}$/.test(value)
const isInterval = (value: string) => value === '-1' || isWhole(value)
const isReadable = (path: string) => {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
const flag = [(value: string) => flags.includes(value), 'true or false'] as const
const count = [isWhole, 'a whole number'] as const
const interval = [isInterval, 'a number of milliseconds, or -1'] as const
const file = [isReadable, 'the path of a file that can be read'] as const
const preferences = ['leader', 'follower', 'readonlyreplica', 'random']

/** The options of @eventstore/db-client 6.2.1, normalised. It also accepts tlsVerifyCert, but without any effect. */
const supportedOptions: Readonly<Record<string, readonly [(value: string) => boolean, string]>> = {
  usercertfile: file,
  userkeyfile: file,
  tlscafile: file,
  maxdiscoverattempts: count,
  discoveryinterval: count,
  gossiptimeout: count,
  defaultdeadline: count,
  keepaliveinterval: interval,
  keepalivetimeout: interval,
  nodepreference: [(value) => preferences.includes(normalised(value)), 'leader, follower, readOnlyReplica or random'],
  tls: flag,
  throwonappendfailure: flag,
  connectionname: [() => true, ''],
}

const normalised = (text: string) => text.trim().toLowerCase().replaceAll(/[_-]/g, '')

const schemes = { 'esdb://': false, 'esdb+discover://': true } as const
const defaultPort = 2113
/** Split the way the client does: a password may contain anything but an @. */
const parts = /^(?:(?<user>[^:]+):(?<password>[^@]+)@)?(?<hosts>[^?]*)(?:\?(?<options>.*))?$/s
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?$/

/**
 * Reads `esdb://user:password@a:2113,b:2113?tls=true` or `esdb+discover://…`.
 * @throws BadVariable that names the first part that is wrong
 */
export function parseConnectionString(given: string): ConnectionString {
  const text = given.trim()
  const scheme = Object.keys(schemes).find((each) => text.startsWith(each))
  if (scheme === undefined) throw new BadVariable('must begin with esdb:// or esdb+discover://')
  const { user, password, hosts = '', options: query = '' } = parts.exec(text.slice(scheme.length))?.groups ?? {}
  const credentials = credentialsOf(user, password)
  const endpoints = endpointsOf(hosts)
  const options = optionsOf(query)
  const isDiscovered = scheme === 'esdb+discover://'
  const parsed = {
    hosts: endpoints,
    isCluster: isDiscovered || endpoints.length > 1,
    credentials,
    isEncrypted: options.get('tls') !== 'false',
    options,
  }
  // The nodes that are discovered may be anywhere.
  const isLocal = !isDiscovered && endpoints.every(isLoopback)
  if (credentials !== undefined && !parsed.isEncrypted && !isLocal) throw plainCredentials(endpoints)
  return parsed
}

/** EventStoreDB accepts no credentials without TLS. The embedded event store does, and it runs on this machine. */
function plainCredentials(endpoints: readonly Endpoint[]): BadVariable {
  const places = endpoints.filter((endpoint) => !isLoopback(endpoint))
  return new BadVariable(
    `would send its credentials without encryption to ${(places.length > 0 ? places : endpoints).join(', ')}: ` +
      'use tls=true, or leave them out',
  )
}

export const isLoopback = (endpoint: Endpoint): boolean => loopback.test(endpoint)

function credentialsOf(user: string | undefined, password: string | undefined): Credentials | undefined {
  if (user === undefined || password === undefined) return undefined
  // The client would use the part before it.
  if (password.includes(':')) throw new BadVariable('has a : in its password, which must be written as %3A')
  try {
    return { user: decodeURIComponent(user), password: decodeURIComponent(password) }
  } catch {
    throw new BadVariable('has a % in its user or password that must be written as %25')
  }
}

function endpointsOf(hosts: string): readonly Endpoint[] {
  if (hosts.includes('@')) throw new BadVariable('has an @ in its password, which must be written as %40')
  const list = hosts.replace(/\/+$/, '').split(',')
  return list.map((host, index) => {
    const [, name, port = String(defaultPort)] = /^\s*([\w.-]+)(?::(\d{1,5}))?\s*$/.exec(host) ?? []
    if (name !== undefined && Number(port) >= 1 && Number(port) <= 65_535) return `${name}:${port}`
    const which = list.length === 1 ? 'its host' : `host ${index + 1} of ${list.length}`
    throw new BadVariable(
      `has a mistake in ${which}, which must be a name or an IPv4 address, with a port from 1 to 65535`,
    )
  })
}

function optionsOf(query: string): ReadonlyMap<string, string> {
  const options = new Map<string, string>()
  for (const option of query.split('&').filter((each) => each.trim() !== '')) {
    const [name = '', ...values] = option.split('=')
    const supported = supportedOptions[normalised(name)]
    // The client would ignore it, and print the whole string with its password.
    if (supported === undefined) throw new BadVariable(`has an option that the client does not support: ${name.trim()}`)
    const value = values.join('=').trim()
    const [isValid, expected] = supported
    if (value === '' || value.includes('?') || !isValid(decoded(value)))
      throw new BadVariable(`has an option ${name.trim()} that must be ${expected || 'a text'}`)
    options.set(normalised(name), value)
  }
  return options
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/**
 * What the client gets to connect to one node.
 * @param keepAliveTimeoutMs replaces that of the string
 */
export function clientString(
  { credentials, isEncrypted, options }: ConnectionString,
  endpoint: Endpoint,
  keepAliveTimeoutMs: number,
): string {
  const { user = '', password = '' } = credentials ?? {}
  const login = credentials && isEncrypted && `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
  const given = [...options].filter(([name]) => name !== 'keepalivetimeout').map(([name, value]) => `${name}=${value}`)
  return `esdb://${login || ''}${endpoint}?${[...given, `keepAliveTimeout=${keepAliveTimeoutMs}`].join('&')}`
}

/** A variable that holds a connection string. Decodes to the unchanged text. */
export function connectionString() {
  return readBy((text) => {
    parseConnectionString(text)
    return text
  })
}

/** The address alone, as it is written, for logs and files: without user, password and options. */
export function withoutCredentials(text: string): string {
  const [, scheme = '', rest = ''] = /^([^:]+:\/\/)(.*)$/s.exec(text) ?? []
  return `${scheme}${(parts.exec(rest)?.groups?.hosts ?? '').replace(/\/+$/, '')}`
}
