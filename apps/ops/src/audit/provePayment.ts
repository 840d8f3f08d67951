// `audit prove payment`: writes a file that proves the events of a payment to everyone who has the verifier key.
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseCheckpoint } from '@paylog/audit-log/checkpoint'
import { leafHash } from '@paylog/audit-log/leaf'
import { noteText } from '@paylog/audit-log/note'
import { inclusionProof, ProofError, verifyInclusion } from '@paylog/audit-log/proofs'
import { coveringCheckpoint, leafIndexes, listCheckpoints, storedHashes } from '@paylog/audit-log/treeStore'
import { parseDurationMs } from '@paylog/domain/duration'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { describeEvent, type RawEvent } from '@paylog/event-store/read/rawEvent'
import { readStreamEvents } from '@paylog/event-store/read/reads'
import { paymentStream } from '@paylog/event-store/streamName'
import { auditCommand, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readArguments, UsageError } from '../command.ts'
import type { Pool } from '../database.ts'
import { readPaymentId } from '../payments/providerWorkflow.ts'
import { openRawLog, untilInterrupted } from '../streams/exportSelection.ts'
import { withAuditTree } from './auditTree.ts'
import { type ProofFile, type ProvenEvent, proofFileOf, provenEvent } from './proofFile.ts'

/** A checkpoint is made every minute. */
const defaultWait = '90s'
const pollMs = 250
const exitDifferent = 3

export const auditProvePayment: CliCommand = {
  usage: 'ID [--out FILE] [--wait D] [--force] [--reason TEXT]',
  summary: 'Write a proof that the log has the events of a payment, with the events',
  details: [
    '  --out FILE  the file, readable by its owner only; without it the proof is printed',
    `  --wait D    how long to wait for a checkpoint that covers the newest event (default ${defaultWait}); 0s does not wait`,
    '  --force     replaces an existing file',
    reasonHelp,
    '',
    'The file has the signed checkpoint and, for each event of the payment, its bytes as recorded and the hashes that lead',
    'from them to the checkpoint. `audit check-proof FILE` verifies it anywhere. Personal data in it is sealed.',
    '',
    'Exits with 3 when an event is not the one of the tree; `audit verify` says more. Exits with 1 when no checkpoint covers',
    'the newest event yet.',
  ].join('\n'),
  async run(args, context) {
    const { environment, print, errors } = context
    const { values, positionals } = readArguments(args, ['ID'], {
      out: { type: 'string' },
      wait: { type: 'string' },
      force: { type: 'boolean' },
      ...reasonOption,
    })
    const id = readPaymentId(positionals[0])
    const waitMs = parseDurationMs(values.wait ?? defaultWait)
    if (waitMs === undefined) throw new UsageError('--wait must be a duration such as 90s')
    const reason = readAuditReason(values.reason)
    const audit = () =>
      auditCommand(context, reason, {
        action: 'show_payment',
        target: { kind: 'payment', id },
        details: { proof: true },
      })
    const log = openRawLog(environment)
    const file = await untilInterrupted({ log, errors }, 'Interrupted: nothing was written.', (signal) =>
      withAuditTree(environment, errors, (pool) => provePayment({ log, pool, signal, audit }, id, waitMs)),
    )
    const text = `${JSON.stringify(file, undefined, 2)}\n`
    if (values.out === undefined) return await print(text.trimEnd())
    writeProof(values.out, text, values.force === true)
    await print(writtenText(values.out, file))
  },
}

type Sources = {
  readonly log: RawClient
  readonly pool: Pool
  readonly signal: AbortSignal
  /** Records that the payment is shown. */
  readonly audit: () => Promise<void>
}

async function provePayment({ log, pool, signal, audit }: Sources, id: string, waitMs: number): Promise<ProofFile> {
  const events = await readStreamEvents(log, paymentStream(id), {})
  if (events.length === 0) throw new OpsError(`There is no payment ${id}.`)
  await audit()
  const { indexes, note } = await covered(pool, events, waitMs, signal)
  const { size, root } = parseCheckpoint(noteText(note))
  const read = storedHashes(pool)
  const proven: ProvenEvent[] = []
  for (const [place, event] of events.entries()) {
    const index = indexes[place] ?? 0
    const proof = await inclusionProof(index, size, read)
    requireIncluded(event, { index, size, root, proof })
    proven.push(provenEvent(event, index, proof))
  }
  return proofFileOf({ payment: id, checkpoint: note, events: proven })
}

/**
 * Waits until a checkpoint covers all events.
 * @throws OpsError when there is none in time
 */
async function covered(
  pool: Pool,
  events: readonly RawEvent[],
  waitMs: number,
  signal: AbortSignal,
): Promise<{ readonly indexes: readonly number[]; readonly note: string }> {
  const positions = events.map(({ position }) => position.commit)
  const giveUpAt = performance.now() + waitMs
  for (;;) {
    const indexes = (await leafIndexes(pool, positions)).filter((index) => index !== undefined)
    const isComplete = indexes.length === events.length
    const checkpoint = isComplete ? await coveringCheckpoint(pool, Math.max(...indexes) + 1) : undefined
    if (checkpoint !== undefined) return { indexes, note: checkpoint.note }
    if (performance.now() >= giveUpAt) throw new OpsError(await uncoveredText(pool, isComplete))
    await sleep(pollMs, undefined, { signal })
  }
}

async function uncoveredText(pool: Pool, isComplete: boolean): Promise<string> {
  const [newest] = await listCheckpoints(pool, { limit: 1 })
  const last =
    newest === undefined
      ? 'there is none yet'
      : `the newest one is of ${newest.made_at.toISOString()} and covers the first ${newest.size} events`
  const reason = isComplete ? 'No checkpoint covers' : 'The tree does not have'
  return `${reason} the newest event of this payment yet: ${last}. The projector makes them, if AUDIT_SIGNING_KEY is set.`
}

/** The log and the tree must agree, or the proof would fail elsewhere. */
function requireIncluded(event: RawEvent, claim: Omit<Parameters<typeof verifyInclusion>[0], 'leafHash'>): void {
  try {
    verifyInclusion({ ...claim, leafHash: leafHash(event) })
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    throw new OpsError(
      `${describeEvent(event)} is not the event that the tree has: the log or the tree was changed. \`audit verify\` says where.`,
      { cause: error, exitCode: exitDifferent },
    )
  }
}

function writeProof(path: string, text: string, replaces: boolean): void {
  try {
    writeFileSync(path, text, { flag: replaces ? 'w' : 'wx', mode: 0o600 })
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const reason = isTaken ? 'exists already; --force replaces it' : `cannot be written: ${error}`
    throw new OpsError(`${path} ${reason}`, { cause: error })
  }
}

function writtenText(path: string, { events, checkpoint }: ProofFile): string {
  const { origin, size } = parseCheckpoint(noteText(checkpoint))
  const count = events.length === 1 ? '1 event' : `${events.length} events`
  return [
    `${path}: ${count}, proven by the checkpoint of ${origin} over the first ${size} events of the log.`,
    `\`audit check-proof ${path} --key KEY\` verifies it anywhere.`,
  ].join('\n')
}
