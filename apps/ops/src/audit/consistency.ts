// `audit consistency`: proves that one state of the tree extends another.
import { existsSync, readFileSync } from 'node:fs'
import { openCheckpoint } from '@paylog/audit-log/checkpoint'
import { NoteError, type VerifierKey } from '@paylog/audit-log/note'
import { consistencyProof, ProofError, verifyConsistency } from '@paylog/audit-log/proofs'
import { treeRoot } from '@paylog/audit-log/tree'
import { coveringCheckpoint, readTree, storedHashes } from '@paylog/audit-log/treeStore'
import { type CliCommand, OpsError, readArguments, UsageError } from '../command.ts'
import type { Pool } from '../database.ts'
import { withAuditTree } from './auditTree.ts'
import { type ConsistencyFile, consistencyFileOf, encodedHashes } from './proofFile.ts'
import { keyHelp, keyOption, readVerifier } from './verifier.ts'

const exitDifferent = 3

type TreeState = { readonly size: number; readonly root: Buffer; readonly note: string | null; readonly name: string }

export const auditConsistency: CliCommand = {
  usage: 'A B [--key KEY] [--json]',
  summary: 'Prove that the log of checkpoint B begins with that of checkpoint A',
  details: [
    '  A, B        files with checkpoints, or sizes of the tree',
    keyHelp,
    '  --json      one object: both checkpoints and the hashes of the proof',
    '',
    'Nothing before A was changed, removed or inserted between the two. A size stands for the stored checkpoint of this',
    'size, or for the state of the stored tree if there is none. Signatures are checked.',
    '',
    'Exits with 0 when it is proven, with 3 when B does not extend A, and with 1 when it could not be checked.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values, positionals } = readArguments(args, ['A', 'B'], { ...keyOption, json: { type: 'boolean' } })
    const verifier = readVerifier(values.key, environment)
    const file = await withAuditTree(environment, errors, async (pool) => {
      const older = await readState(pool, positionals[0], verifier)
      const newer = await readState(pool, positionals[1], verifier)
      if (older.size > newer.size) throw new UsageError(`A (${older.size} events) is larger than B (${newer.size})`)
      return await prove(pool, older, newer)
    })
    await print(values.json ? JSON.stringify(file) : consistencyText(file))
  },
}

async function prove(pool: Pool, older: TreeState, newer: TreeState): Promise<ConsistencyFile> {
  const { size: stored } = await readTree(pool)
  if (newer.size > stored) throw new OpsError(`The stored tree has ${stored} events, and ${newer.name} ${newer.size}.`)
  const proof = await consistencyProof(older.size, newer.size, storedHashes(pool))
  try {
    verifyConsistency({
      oldSize: older.size,
      newSize: newer.size,
      oldRoot: older.root,
      newRoot: newer.root,
      proof,
    })
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    throw new OpsError(`${newer.name} does not extend ${older.name}: ${error.message}.`, {
      cause: error,
      exitCode: exitDifferent,
    })
  }
  return consistencyFileOf({ older: stateOf(older), newer: stateOf(newer), proof: encodedHashes(proof) })
}

const stateOf = ({ size, root, note }: TreeState) => ({ size, root: root.toString('base64'), checkpoint: note })

async function readState(pool: Pool, given: string, verifier: VerifierKey | undefined): Promise<TreeState> {
  if (!/^\d{1,15}$/.test(given) || existsSync(given)) return ofFile(given, verifier)
  const size = Number(given)
  const name = `the tree of ${size} events`
  const { size: stored } = await readTree(pool)
  if (size > stored) throw new OpsError(`The stored tree has ${stored} events, not ${size}.`)
  const checkpoint = await coveringCheckpoint(pool, size)
  if (checkpoint?.size !== size) return { size, root: await treeRoot(size, storedHashes(pool)), note: null, name }
  return opened(checkpoint.note, verifier, `the checkpoint of ${size} events`)
}

function ofFile(path: string, verifier: VerifierKey | undefined): TreeState {
  let note: string
  try {
    note = readFileSync(path, 'utf8')
  } catch (error) {
    throw new OpsError(`${path} is neither a size nor a file: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
  return opened(note, verifier, path)
}

function opened(note: string, verifier: VerifierKey | undefined, name: string): TreeState {
  if (verifier === undefined)
    throw new UsageError('--key is missing: without the verifier key no checkpoint can be trusted')
  try {
    return { ...openCheckpoint(note, verifier), note, name }
  } catch (error) {
    if (!(error instanceof NoteError)) throw error
    throw new OpsError(`${name}: ${error.message}`, { cause: error, exitCode: exitDifferent })
  }
}

function consistencyText({ older, newer, proof }: ConsistencyFile): string {
  const signed = ({ checkpoint }: ConsistencyFile['older']) => (checkpoint === null ? ', not signed' : ', signed')
  return [
    `The first ${older.size} of the ${newer.size} events are those of the older tree.`,
    `  older  ${older.size}  ${older.root}${signed(older)}`,
    `  newer  ${newer.size}  ${newer.root}${signed(newer)}`,
    proof.length === 0 ? 'The proof needs no hashes.' : 'The hashes of the proof:',
    ...proof.map((hash) => `  ${hash}`),
  ].join('\n')
}
