// Whom a command is about, and what it opens.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { PersonalDataKeys, Subject } from '@paylog/privacy/dataKeys'
import type { Workflow } from '@paylog/workflows/context'
import { enabledProviders, providerVariables } from '@paylog/workflows/enabledProviders'
import { Type } from 'typebox'
import { OpsError, UsageError } from '../command.ts'
import { opsPool, type Pool } from '../database.ts'
import { eventLogVariables, openEventLog } from '../eventLog.ts'

export const personOptions = {
  user: { type: 'string' },
  email: { type: 'string' },
  payment: { type: 'string' },
} as const

export const personUsage = '--user ID|--email E|--payment ID'

export const personHelp = [
  '  --user ID      a user of yours, as in user_id',
  '  --email E      a guest, and every user that was seen with this e-mail',
  '  --payment ID   the payer of an anonymous payment',
]

/** @throws UsageError */
export function readPerson({
  user,
  email,
  payment,
}: {
  readonly [Name in keyof typeof personOptions]?: string | undefined
}): Subject {
  const given = [user, email, payment].filter((value) => value !== undefined)
  if (given.length !== 1 || given[0] === '') throw new UsageError(`Name one person: ${personUsage}`)
  if (user !== undefined) return { user }
  if (email !== undefined) {
    if (!email.includes('@')) throw new UsageError('--email must be an e-mail')
    return { email }
  }
  const id = recordedId(payment ?? '')
  if (id === null) throw new UsageError('--payment must be the id of a payment')
  return { payment: id }
}

const Config = Type.Object({ ...eventLogVariables, ...providerVariables })

export type OpenPrivacy = Workflow & {
  readonly store: EventStore
  readonly keys: PersonalDataKeys
  readonly pool: Pool
  close(): Promise<void>
}

/**
 * Opens the log, its keys, the database and the enabled providers, of which there may be none.
 * @throws ConfigError, MasterKeyError; errors of Postgres and of the log
 */
export async function openPrivacy(environment: NodeJS.ProcessEnv, errors: Writable): Promise<OpenPrivacy> {
  const config = loadConfig(Config, environment)
  const providers = await enabledProviders(config)
  const { store, keys, close } = await openEventLog(config, errors)
  const { pool } = opsPool(config.DATABASE_URL, { max: 2, errors })
  return {
    ...{ store, keys, pool, providers },
    now: () => new Date(),
    async close() {
      await Promise.all([...providers.values()].map((provider) => provider.close()))
      await pool.end()
      await close()
    },
  }
}

/** Not found: scripts tell it from a failure. */
const exitUnknown = 3

/** @throws OpsError in the place of a DomainError */
export async function explained<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const exitCode = error.code === 'not_found' ? exitUnknown : 1
    throw new OpsError(`${error.message} (${error.code})`, { exitCode, cause: error })
  }
}
