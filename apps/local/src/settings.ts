// Where the demo credentials may be used. They are published, and one of them is an administrator's.
import { commandVariables } from '@paylog/command-routes/config'
import { ConfigError, loadConfig, readVariableFiles, variableOfFile } from '@paylog/config/environment'
import { bool, port, text, url } from '@paylog/config/kinds'
import { deliveryVariables, privateRanges } from '@paylog/deliveries/variables'
import { queryVariables } from '@paylog/query-routes/config'
import { apiVariables } from '@paylog/runtime/http/apiServer'
import { processVariables } from '@paylog/runtime/process/lifecycle'
import { decodeEndpoints, isWebhookVariable, type WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { liveProviders, providerProblems, providerVariables } from '@paylog/workflows/enabledProviders'
import { reconcileProblems, reconcileVariables } from '@paylog/workflows/reconcileVariables'
import { type StaticDecode, Type } from 'typebox'

/** Whether only this machine can reach it. Names other than localhost are not resolved: they may change. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/**
 * Without AUTH_URL the demo credentials are valid for everyone who can reach the API.
 * @param live the providers with live credentials
 * @returns one sentence if these settings must not start, beginning with the variable's name
 */
function demoProblems(settings: Settings, live: readonly string[]): readonly string[] {
  const { HOST: host, AUTH_URL: authUrl, ALLOW_DEMO_CREDENTIALS: isAllowed } = settings
  if (authUrl !== undefined) return []
  if (live.length > 0)
    return [`AUTH_URL is required beside live credentials (${live.join(', ')}): the demo credentials are published`]
  if (isLoopback(host) || isAllowed) return []
  return [
    'AUTH_URL is required when HOST is not of this machine alone: others could use the published demo credentials; ' +
      'set ALLOW_DEMO_CREDENTIALS=true to let them',
  ]
}

// What the person who starts the system may set, beyond what the apps themselves understand.

/** Relative to where npm runs scripts: the root of the project. */
export const defaultDataDirectory = '.data'

const defaultHost = '127.0.0.1'

const localVariables = {
  HOST: text(defaultHost),
  PORT: port(8080),
  /** The worker's. */
  HEALTH_PORT: Type.Optional(port()),
  DATA_DIR: text(defaultDataDirectory),
  DATABASE_URL: Type.Optional(url(['postgres', 'postgresql'])),
  EVENTSTORE_URL: Type.Optional(url(['esdb', 'esdb+discover'])),
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  AUTH_URL: Type.Optional(url(['http', 'https'])),
  AUTH_SERVICE: text('payments'),
  /** Needed for the demo credentials, which are published, when other machines can reach HOST. */
  ALLOW_DEMO_CREDENTIALS: bool(false),
  SANDBOX_PROVIDER: bool(),
  SANDBOX_WEBHOOK_SECRET: Type.Optional(text()),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: privateRanges(['127.0.0.0/8', '::1/128']),
}

/** The apps' variables; where this room supplies what it requires, this room's own word holds. */
const AllVariables = Type.Object({
  ...processVariables,
  ...apiVariables,
  ...commandVariables,
  ...queryVariables,
  ...deliveryVariables,
  ...reconcileVariables,
  ...localVariables,
})
export type Settings = Readonly<StaticDecode<typeof AllVariables>>

/**
 * Checks the variables of every app before any is started.
 * @throws ConfigError naming every bad variable
 */
export function loadSettings(environment: NodeJS.ProcessEnv): Settings {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const read = readVariableFiles(set, isSetting)
  const given = { env: { SANDBOX_PROVIDER: sandboxByDefault(read.env), ...read.env }, problems: read.problems }
  const problems = [
    ...problemsOf(() => loadConfig(AllVariables, given.env, given.problems)),
    ...decodeEndpoints(given.env).problems,
    ...reconcileProblems(given.env),
    ...providerProblems({ ...given.env, SANDBOX_WEBHOOK_SECRET: 'supplied at start' }),
  ]
  // Several apps read the same variable; the first word of a problem is its name.
  const byVariable = new Map(problems.toReversed().map((problem) => [problem.split(' ', 1)[0] ?? '', problem]))
  // One whose file cannot be used is missing for those who look at the rest.
  for (const name of byVariable.keys()) byVariable.delete(variableOfFile(name) ?? '')
  if (byVariable.size > 0) throw new ConfigError([...byVariable.values()].toReversed())
  const settings = loadConfig(AllVariables, given.env)
  const live = liveProviders(loadConfig(Type.Object(providerVariables), given.env))
  const demo = demoProblems(settings, live)
  if (demo.length > 0) throw new ConfigError(demo)
  return settings
}

/** On where the demo credentials may be used, off elsewhere. */
function sandboxByDefault({ HOST, ALLOW_DEMO_CREDENTIALS }: NodeJS.ProcessEnv): string {
  return String(isLoopback(HOST ?? defaultHost) || ALLOW_DEMO_CREDENTIALS === 'true')
}

function problemsOf(load: () => unknown): readonly string[] {
  try {
    load()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** The variables of the webhook nodes, which have no fixed list; one that is kept in a file stays there. */
export function webhookVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  const given = Object.entries(environment).filter(([name]) => isWebhookVariable(name))
  return Object.fromEntries(given.flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

/** The webhook endpoints that these variables configure. */
export function webhookEndpoints(environment: NodeJS.ProcessEnv): readonly WebhookEndpoint[] {
  return decodeEndpoints(readVariableFiles(webhookVariables(environment), isWebhookVariable).env).endpoints
}

/** An environment without anything that sets up a system: what a private one inherits from its surroundings. */
export function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !isSetting(name) && !isSetting(variableOfFile(name) ?? '')),
  )
}

const isSetting = (name: string) => name in AllVariables.properties || isWebhookVariable(name)
