// The audit trail of the commands: those that change, export or show something are recorded before they do it.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import type { ActionOutcome } from '@paylog/domain/auditTrail'
import type { EventMetadata } from '@paylog/domain/events'
import { reasonProblem } from '@paylog/domain/reason'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { IntendedAction } from '@paylog/runtime/http/guardRoutes'
import { type CommandContext, UsageError } from './command.ts'
import type { Option } from './options.ts'
import type { System } from './system.ts'

export const reasonOption: Option<string | null> = {
  placeholder: 'TEXT',
  help: 'why, for the audit trail; no personal data of payers',
  read: (given, name) => readAuditReason(given.at(-1), name),
}

/** @returns null when it is not given @throws UsageError */
function readAuditReason(text = '', option: string): string | null {
  const reason = text.trim()
  const problem = reasonProblem(reason)
  if (problem !== undefined) throw new UsageError(`${option} ${problem}`)
  return reason === '' ? null : reason
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

type Audited = Pick<CommandContext, 'errors'> & {
  readonly open: System
  readonly reason: string | null
}

/**
 * Records what a command is about to do; that it was done is recorded once the command has ended without an error. Without EVENTSTORE_URL it only warns: the command gets by without
 * the log.
 * @throws DomainError `event_store_unavailable`
 */
export type Audit = (auditedAction: IntendedAction) => Promise<void>
export type RecordAction = (
  auditedAction: IntendedAction,
  metadata: EventMetadata,
) => Promise<(outcome: ActionOutcome) => Promise<void>>

/** @returns records an action of a command. What it returns records how it ended */
export function createRecorder({ errors, open, reason }: Audited): RecordAction {
  let store: EventStore | undefined
  return async (auditedAction, metadata) => {
    if (!open.hasLog) {
      errors.write('Warning: EVENTSTORE_URL is not set, so the audit trail has no record of this.\n')
      return async () => undefined
    }
    store ??= await open.store()
    // Fails much sooner than an append, which is repeated.
    await store.head()
    const { auditAction } = await import('@paylog/commands/auditTrail')
    const who = { actor: operatorName(), actor_email: null }
    return await auditAction({ store, now: () => new Date() }, auditedAction, { ...who, reason, metadata })
  }
}

/** The metadata of what one command records. */
export function operatorMetadata(): EventMetadata {
  const id = randomUUID()
  return { correlationId: id, causationId: id, actor: 'operator' }
}
