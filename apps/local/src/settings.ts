// The variables of `npm start`: those of every app and its own.

import { operatorVariables } from '@paylog/administration/config'
import { auditProblems, auditVariables } from '@paylog/audit-log/config'
import { commandVariables } from '@paylog/commands/config'
import { liveProviders, providerProblems, providerVariables } from '@paylog/commands/provider-calls/enabledProviders'
import { reconcileProblems, reconcileVariables } from '@paylog/commands/provider-calls/reconcileVariables'
import { connectionString } from '@paylog/event-store/connection/connectionString'
import { retentionVariables } from '@paylog/privacy/buckets'
import { masterKeyVariables } from '@paylog/privacy/masterKeys'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { queryVariables } from '@paylog/queries/config'
import { ConfigError, loadConfig, readVariableFiles, variableOfFile } from '@paylog/runtime/config/environment'
import { bool, port, text, url } from '@paylog/runtime/config/kinds'
import { apiVariables } from '@paylog/runtime/http/apiServer'
import { isLoopback } from '@paylog/runtime/http/networks'
import { processVariables } from '@paylog/runtime/process/lifecycle'
import { deliveryVariables, privateRanges } from '@paylog/webhooks/deliveries/variables'
import {
  decodeEndpoints,
  isWebhookVariable,
  type WebhookEndpoint,
  withoutSigningSecrets,
} from '@paylog/webhooks/endpoints/endpoints'
import { type StaticDecode, Type } from 'typebox'

/** Relative to the project root, where npm runs scripts. */
export const defaultDataDirectory = '.data'

const defaultHost = '127.0.0.1'

const localVariables = {
  HOST: text(defaultHost),
  PORT: port(8080),
  /** For the worker. */
  HEALTH_PORT: Type.Optional(port()),
  DATA_DIR: text(defaultDataDirectory),
  DATABASE_URL: Type.Optional(url(['postgres', 'postgresql'])),
  EVENTSTORE_URL: Type.Optional(connectionString()),
  PII_MASTER_KEY: Type.Optional(masterKeyVariables.PII_MASTER_KEY),
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  AUTH_URL: Type.Optional(url(['http', 'https'])),
  AUTH_SERVICE: text('payments'),
  /** Allows the public demo credentials on a HOST that other machines can reach. */
  ALLOW_DEMO_CREDENTIALS: bool(false),
  SANDBOX_PROVIDER: bool(),
  SANDBOX_WEBHOOK_SECRET: Type.Optional(text()),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: privateRanges(['127.0.0.0/8', '::1/128']),
}

const { DATABASE_URL } = dataKeyVariables
const { EVENTSTORE_URL } = deliveryVariables

/**
 * The variables of each process, beside those of every process. No process has another setting in its environment, so that it
 * cannot leak a secret that it does not need.
 */
const variablesOf = {
  postgres: {},
  migrate: { DATABASE_URL, DATA_DIR: localVariables.DATA_DIR },
  'embedded-event-store': { DATABASE_URL },
  identity: {},
  api: { ...apiVariables, ...commandVariables, ...queryVariables, ...operatorVariables },
  projector: { ...dataKeyVariables, EVENTSTORE_URL, ...auditVariables },
  worker: {
    ...deliveryVariables,
    ...masterKeyVariables,
    ...reconcileVariables,
    ...retentionVariables,
    ...providerVariables,
  },
  'console build': {},
}
export type ProcessName = keyof typeof variablesOf

/** The apps' variables. The ones of this app replace what the apps require and `npm start` supplies. */
const AllVariables = Type.Object({
  ...processVariables,
  ...variablesOf.api,
  ...variablesOf.projector,
  ...variablesOf.worker,
  ...localVariables,
})
export type Settings = Readonly<StaticDecode<typeof AllVariables>>

/**
 * Checks the variables of all apps before any of them starts.
 * @throws ConfigError naming every bad variable
 */
export function loadSettings(environment: NodeJS.ProcessEnv): Settings {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const read = readVariableFiles(set, isSetting)
  const env = { SANDBOX_PROVIDER: sandboxByDefault(read.env), ...read.env }
  const settings = loadConfig(AllVariables, env, [
    ...read.problems,
    ...decodeEndpoints(env).problems,
    ...reconcileProblems(env),
    ...providerProblems({ ...env, ...suppliedAtStart }),
  ])
  const live = liveProviders(loadConfig(Type.Object(providerVariables), env))
  const problems = [...auditProblems(settings), ...demoProblems(settings, live)]
  if (problems.length > 0) throw new ConfigError(problems)
  return settings
}

/** What the sandbox lacks until then. */
const suppliedAtStart = {
  SANDBOX_WEBHOOK_SECRET: 'supplied at start',
  SANDBOX_DATABASE_URL: 'postgres://supplied.at.start',
}

/** On where the demo credentials are allowed, off elsewhere. */
function sandboxByDefault({ HOST, ALLOW_DEMO_CREDENTIALS }: NodeJS.ProcessEnv): string {
  return String(isLoopback(HOST ?? defaultHost) || ALLOW_DEMO_CREDENTIALS === 'true')
}

/** The variables of the webhook endpoints, which have no fixed list. `*_FILE` variables stay as they are. */
export function webhookVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  const given = Object.entries(environment).filter(([name]) => isWebhookVariable(name))
  return Object.fromEntries(given.flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

/** The webhook endpoints that these variables configure. */
export function webhookEndpoints(environment: NodeJS.ProcessEnv): readonly WebhookEndpoint[] {
  return decodeEndpoints(readVariableFiles(webhookVariables(environment), isWebhookVariable).env).endpoints
}

/** An environment without any setting, for a private system. */
export const withoutSettings = (environment: NodeJS.ProcessEnv) => filtered(environment, (name) => !isSetting(name))

/** The part of an environment that a process gets: its own settings, and what is no setting. */
export function environmentOf(process: ProcessName, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOwn = (name: string) =>
    name in processVariables || name in variablesOf[process] || (isWebhookVariable(name) && readsWebhooks(process))
  // The API lists the endpoints. Only the worker signs.
  const given = process === 'worker' ? environment : withoutSigningSecrets(environment)
  return filtered(given, (name) => !isSetting(name) || isOwn(name))
}

const readsWebhooks = (process: ProcessName) => process === 'api' || process === 'worker'

/** @param isKept by the variable's name, also if its value is in a file */
function filtered(environment: NodeJS.ProcessEnv, isKept: (name: string) => boolean): NodeJS.ProcessEnv {
  const entries = Object.entries(environment)
  return Object.fromEntries(entries.filter(([name]) => isKept(name) && isKept(variableOfFile(name) ?? name)))
}

const isSetting = (name: string) => name in AllVariables.properties || isWebhookVariable(name)

/**
 * Without AUTH_URL the public demo credentials, one of them an administrator's, work for everyone who can reach the
 * API.
 * @param live the providers with live credentials
 * @returns the reason why these settings must not start, beginning with the variable's name
 */
function demoProblems(settings: Settings, live: readonly string[]): readonly string[] {
  const { HOST: host, AUTH_URL: authUrl, ALLOW_DEMO_CREDENTIALS: isAllowed } = settings
  if (authUrl !== undefined) return []
  if (live.length > 0)
    return [`AUTH_URL is required with live credentials (${live.join(', ')}): the demo credentials are public`]
  if (isLoopback(host) || isAllowed) return []
  return [
    'AUTH_URL is required when other machines can reach HOST: they could use the public demo credentials; ' +
      'set ALLOW_DEMO_CREDENTIALS=true to allow that',
  ]
}
