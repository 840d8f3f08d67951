// The checkpoints that Postgres has.
import type { VerifierKey } from '@paylog/audit-log/note'
import { readCheckpoints } from '@paylog/audit-log/treeStore'
import type { Pool } from '../system.ts'
import type { SignedCheckpoint } from './compareLog.ts'
import { type InvalidCheckpoint, openSigned } from './givenCheckpoints.ts'

/**
 * Those that are signed, by size.
 * @param options `upTo`: the largest size, because the log may have no events yet of those that are signed meanwhile;
 *   `onInvalid` is called for each that is not signed
 */
export async function* storedCheckpoints(
  pool: Pool,
  options: {
    readonly verifier: VerifierKey
    readonly upTo: number
    readonly onInvalid: (found: InvalidCheckpoint) => void
  },
): AsyncGenerator<SignedCheckpoint, void> {
  const { verifier, upTo, onInvalid } = options
  for await (const { size, root, note } of readCheckpoints(pool)) {
    if (size > upTo) return
    const source = `the stored checkpoint ${size}`
    const opened = openSigned(note, source, verifier)
    if ('reason' in opened) onInvalid(opened)
    else if (opened.size !== size || !opened.root.equals(root))
      onInvalid({ source, reason: 'its row is not that of its note' })
    // By the note. The row decides about the order only, and a wrong one is reported.
    else yield opened
  }
}
