// The audit trail of `streams export`.
import type { IntendedDeed } from '@paylog/workflows/auditTrail'
import { createAudit, reasonOption as option } from './auditTrail.ts'
import type { CommandContext } from './command.ts'
import { createSystem } from './system.ts'

export const reasonOption = { reason: { type: 'string' } } as const
/** The line of the help. */
export const reasonHelp = `  --reason TEXT  ${option.help}`

/** @returns null when it is not given @throws UsageError */
export const readAuditReason = (text: string | undefined) => option.read(text === undefined ? [] : [text], '--reason')

/** Records what the command is about to do. @throws DomainError `event_store_unavailable` */
export async function auditCommand(
  { environment, errors }: Pick<CommandContext, 'environment' | 'errors'>,
  reason: string | null,
  deed: IntendedDeed,
): Promise<void> {
  const open = createSystem(environment, errors)
  try {
    await createAudit({ errors, open, reason })(deed)
  } finally {
    await open.close()
  }
}
