// The audit trail of the commands: those that change, export or show something are recorded before they do it.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { reasonProblem } from '@paylog/domain/auditTrail'
import type { EventMetadata } from '@paylog/domain/events'
import { noDataKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { auditDeed, type IntendedDeed } from '@paylog/workflows/auditTrail'
import { Type } from 'typebox'
import { type CommandContext, UsageError } from './command.ts'

const Config = Type.Object({ EVENTSTORE_URL: Type.Optional(url(['esdb', 'esdb+discover'])) })

export const reasonOption = { reason: { type: 'string' } } as const
/** The line of the help. */
export const reasonHelp = '  --reason TEXT  why, for the audit trail; no personal data of payers'

/**
 * Reads the value of `--reason`.
 * @returns null when it is not given
 * @throws UsageError
 */
export function readAuditReason(text = '', option = '--reason'): string | null {
  const reason = text.trim()
  const problem = reasonProblem(reason)
  if (problem !== undefined) throw new UsageError(`${option} ${problem}`)
  return reason === '' ? null : reason
}

/** The metadata of what one command records. */
export function operatorMetadata(): EventMetadata {
  const id = randomUUID()
  return { correlationId: id, causationId: id, actor: 'operator' }
}

/** `operator:ann`, or `operator` for a user without a plain name. */
function operatorName(): string {
  try {
    const { username } = userInfo()
    return /^[\w.-]{1,64}$/.test(username) ? `operator:${username}` : 'operator'
  } catch {
    // A container may run as a user without an entry in its password file.
    return 'operator'
  }
}

/**
 * Records what a command is about to do. Call it before it is done.
 * @param metadata of what the command records
 * @throws DomainError `event_store_unavailable`
 */
export async function auditOn(
  store: EventStore,
  reason: string | null,
  deed: IntendedDeed,
  metadata: EventMetadata = operatorMetadata(),
): Promise<void> {
  // Fails much sooner than an append, which is repeated.
  await store.head()
  await auditDeed({ store, now: () => new Date() }, deed, { actor: operatorName(), reason, metadata })
}

/**
 * As `auditOn`, for a command without an event store of its own. Without EVENTSTORE_URL it only warns, because the
 * command needs none.
 */
export async function auditCommand(
  { environment, errors }: Pick<CommandContext, 'environment' | 'errors'>,
  reason: string | null,
  deed: IntendedDeed,
): Promise<void> {
  const { EVENTSTORE_URL: connectionString } = loadConfig(Config, environment)
  if (connectionString === undefined) {
    errors.write('Warning: EVENTSTORE_URL is not set, so the audit trail has no record of this.\n')
    return
  }
  const store = createEventStore({ connectionString, keys: noDataKeys })
  try {
    await auditOn(store, reason, deed)
  } finally {
    await store.close()
  }
}
