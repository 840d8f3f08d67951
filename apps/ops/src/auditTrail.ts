// The audit trail of the commands: those that change, export or show something are recorded before they do it.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
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
 * Records what a command is about to do. Without EVENTSTORE_URL it only warns: the command gets by without the log.
 * @throws DomainError `event_store_unavailable`
 */
export type Audit = (auditedAction: IntendedAction, metadata?: EventMetadata) => Promise<void>

export function createAudit({ errors, open, reason }: Audited): Audit {
  let store: EventStore | undefined
  return async (auditedAction, metadata = operatorMetadata()) => {
    if (!open.hasLog) {
      errors.write('Warning: EVENTSTORE_URL is not set, so the audit trail has no record of this.\n')
      return
    }
    store ??= await open.store()
    // Fails much sooner than an append, which is repeated.
    await store.head()
    const { auditAction } = await import('@paylog/commands/auditTrail')
    await auditAction({ store, now: () => new Date() }, auditedAction, { actor: operatorName(), reason, metadata })
  }
}

/** The metadata of what one command records. */
export function operatorMetadata(): EventMetadata {
  const id = randomUUID()
  return { correlationId: id, causationId: id, actor: 'operator' }
}
