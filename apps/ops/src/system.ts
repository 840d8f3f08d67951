// What a command opens: Postgres, the log, the keys of personal data, and the providers.
import type { Writable } from 'node:stream'
import type { Workflow } from '@paylog/commands/context'
import type { DataKeys } from '@paylog/event-store/codec/dataKeys'
import type { RawClient } from '@paylog/event-store/connection/calls'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import type { Provider } from '@paylog/providers/provider'
import { loadConfig } from '@paylog/runtime/config/environment'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { SessionSettings } from '@paylog/runtime/postgres/session'
import { createLog, type Logger } from '@paylog/runtime/telemetry/log'
import { Type } from 'typebox'
import { OpsError } from './command.ts'
import { databaseVariable, logVariable } from './variables.ts'

export const noProvider =
  'No provider is enabled. Set the same credentials as for the apps, such as STRIPE_SECRET_KEY and ' +
  'STRIPE_WEBHOOK_SECRET: docs/configuration.md, Providers.'

export type Pool = ReturnType<typeof createPool>

type PoolOptions = {
  /** Instead of `DATABASE_URL`. */
  readonly databaseUrl?: string
  readonly max?: number
  /** Of its sessions. */
  readonly settings?: SessionSettings
}

/** Each function reads its own variables, and throws ConfigError. */
export type System = {
  /** For modules that log what the command reports by itself. */
  readonly log: Logger
  /** Whether `EVENTSTORE_URL` is set, for commands that get by without it. */
  readonly hasLog: boolean
  databaseUrl(): string
  pool(options?: PoolOptions): Pool
  /** The log as recorded. @param signal ends pending reads when it aborts */
  rawLog(signal?: AbortSignal): Promise<RawClient>
  /** The log without personal data, unless there are keys. */
  store(keys?: DataKeys): Promise<EventStore>
  /** The keys, after the erasures in the log are applied to them. @throws MasterKeyError; errors of Postgres and of the log */
  keys(): Promise<PersonalDataKeys>
  /** The enabled ones, by name. */
  providers(): Promise<ReadonlyMap<string, Provider>>
  /** As `providers`, for a job, which closes them itself. */
  jobProviders(): Promise<ReadonlyMap<string, Provider>>
  /** What the routes for payments need. @throws ConfigError; OpsError when no provider is enabled */
  workflow(): Promise<Workflow>
  /** Closes something else at the end. */
  defer(close: () => Promise<unknown>): void
  /** Closes all that was opened, the last one first. */
  close(): Promise<void>
}

/**
 * Modules are loaded when a command opens what they are for: the clients of the log and of the providers take a third of a
 * second.
 * @param errors receives log lines
 */
export function createSystem(environment: NodeJS.ProcessEnv, errors: Writable): System {
  const opened = new AsyncDisposableStack()
  // A lost connection, for example, also fails the work. It must not be logged between lines of progress.
  const log = createLog({ app: 'ops', level: 'fatal' }, errors)
  const ownDatabaseUrl = () => loadConfig(Type.Object(databaseVariable), environment).DATABASE_URL
  const logUrl = () => loadConfig(Type.Object(logVariable), environment).EVENTSTORE_URL
  return {
    log,
    hasLog: Boolean(environment.EVENTSTORE_URL || environment.EVENTSTORE_URL_FILE),
    databaseUrl: ownDatabaseUrl,
    pool({ databaseUrl = ownDatabaseUrl(), max = 2, ...settings } = {}) {
      const pool = createPool({ databaseUrl, applicationName: 'paylog ops', max, log, ...settings })
      opened.defer(() => pool.end())
      return pool
    },
    async rawLog(signal) {
      const connectionString = logUrl()
      const { createRawClient } = await import('@paylog/event-store/connection/calls')
      const client = createRawClient({ name: 'The event store', connectionString })
      signal?.addEventListener('abort', () => void client.close())
      opened.defer(() => client.close())
      return client
    },
    async store(given) {
      const connectionString = logUrl()
      const { createEventStore } = await import('@paylog/event-store/eventStore')
      const { noDataKeys } = await import('@paylog/event-store/codec/dataKeys')
      const store = createEventStore({ connectionString, keys: given ?? noDataKeys })
      opened.defer(() => store.close())
      return store
    },
    async keys() {
      const { openKeys } = await import('./openKeys.ts')
      return await openKeys(environment, { errors, opened })
    },
    async jobProviders() {
      const { enabledProviders, providerVariables } = await import('@paylog/commands/provider-calls/enabledProviders')
      return await enabledProviders(loadConfig(Type.Object(providerVariables), environment))
    },
    async providers() {
      const providers = await this.jobProviders()
      for (const provider of providers.values()) opened.defer(() => provider.close())
      return providers
    },
    async workflow() {
      const providers = await this.providers()
      if (providers.size === 0) throw new OpsError(noProvider)
      return { store: await this.store(await this.keys()), providers, now: () => new Date() }
    },
    defer: (close) => opened.defer(async () => void (await close())),
    close: () => opened.disposeAsync(),
  }
}
