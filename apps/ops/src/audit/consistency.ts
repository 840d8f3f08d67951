// `audit consistency`: proves that one state of the tree extends another.
import { existsSync } from 'node:fs'
import type { VerifierKey } from '@paylog/audit-log/note'
import { proofFormat as format } from '@paylog/audit-log/paymentProof'
import { consistencyProof, verifyConsistency } from '@paylog/audit-log/proofs'
import { treeRoot } from '@paylog/audit-log/tree'
import { coveringCheckpoint, readTree, storedHashes } from '@paylog/audit-log/treeStore'
import { exitDifferent, OpsError, UsageError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { readText } from '../files.ts'
import type { Pool } from '../system.ts'
import { openSigned } from './checkpoints.ts'
import { encodedHashes, problemOf } from './hashes.ts'
import { requireVerifiers, verifierOption } from './verifier.ts'

type TreeState = { readonly size: number; readonly root: Buffer; readonly note: string | null; readonly name: string }

export const auditConsistency = defineCommand({
  summary: 'Prove that the log of checkpoint B begins with that of checkpoint A',
  args: ['A', 'B'],
  options: verifierOption,
  json: 'one object: both checkpoints and the hashes of the proof',
  about: [
    'A and B are files with checkpoints, or sizes of the tree. Nothing before A was changed, removed or inserted between the',
    'two. A size stands for the stored checkpoint of this size, or for the state of the stored tree if there is none.',
    'Signatures are checked.',
    '',
    'Exits with 0 when it is proven, with 3 when B does not extend A, and with 1 when it could not be checked.',
  ],
  async run({ args, options, environment, open }) {
    const pool = open.pool()
    const verifiers = () => requireVerifiers(options.key, environment)
    const older = await readState(pool, args[0], verifiers)
    const newer = await readState(pool, args[1], verifiers)
    if (older.size > newer.size) throw new UsageError(`A (${older.size} events) is larger than B (${newer.size})`)
    const file = await prove(pool, older, newer)
    return { json: file, text: consistencyText(file) }
  },
})

async function prove(pool: Pool, older: TreeState, newer: TreeState) {
  const { size: stored } = await readTree(pool)
  if (newer.size > stored) throw new OpsError(`The stored tree has ${stored} events, and ${newer.name} ${newer.size}.`)
  const proof = await consistencyProof(older.size, newer.size, storedHashes(pool))
  const roots = { oldRoot: older.root, newRoot: newer.root }
  const problem = problemOf(() => verifyConsistency({ oldSize: older.size, newSize: newer.size, ...roots, proof }))
  if (problem !== undefined)
    throw new OpsError(`${newer.name} does not extend ${older.name}: ${problem}.`, { exitCode: exitDifferent })
  return { format, older: stateOf(older), newer: stateOf(newer), proof: encodedHashes(proof) }
}

/** `checkpoint` is null when none of this size is signed. */
const stateOf = ({ size, root, note }: TreeState) => ({ size, root: root.toString('base64'), checkpoint: note })

async function readState(pool: Pool, given: string, verifiers: () => readonly VerifierKey[]): Promise<TreeState> {
  if (!/^\d{1,15}$/.test(given) || existsSync(given)) return opened(readText(given), given, verifiers)
  const size = Number(given)
  const { size: stored } = await readTree(pool)
  if (size > stored) throw new OpsError(`The stored tree has ${stored} events, not ${size}.`)
  const checkpoint = await coveringCheckpoint(pool, size)
  if (checkpoint?.size === size) return opened(checkpoint.note, `the checkpoint of ${size} events`, verifiers)
  const root = await treeRoot(size, storedHashes(pool))
  return { size, root, note: null, name: `the tree of ${size} events` }
}

function opened(note: string, name: string, verifiers: () => readonly VerifierKey[]): TreeState {
  const checkpoint = openSigned(note, name, verifiers())
  if ('reason' in checkpoint) throw new OpsError(`${name}: ${checkpoint.reason}`, { exitCode: exitDifferent })
  return { ...checkpoint, note, name }
}

function consistencyText({ older, newer, proof }: Awaited<ReturnType<typeof prove>>): string {
  const signed = ({ checkpoint }: ReturnType<typeof stateOf>) => (checkpoint === null ? ', not signed' : ', signed')
  return [
    `The first ${older.size} of the ${newer.size} events are those of the older tree.`,
    `  older  ${older.size}  ${older.root}${signed(older)}`,
    `  newer  ${newer.size}  ${newer.root}${signed(newer)}`,
    proof.length === 0 ? 'The proof needs no hashes.' : 'The hashes of the proof:',
    ...proof.map((hash) => `  ${hash}`),
  ].join('\n')
}
