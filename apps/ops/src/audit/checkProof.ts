// `audit check-proof`: verifies the proof of a payment with nothing but the verifier key.
import type { Checkpoint } from '@paylog/audit-log/checkpoint'
import { leafHash } from '@paylog/audit-log/leaf'
import type { VerifierKey } from '@paylog/audit-log/note'
import { verifyInclusion } from '@paylog/audit-log/proofs'
import { paymentStream } from '@paylog/event-store/streamName'
import { table } from '@paylog/runtime/process/table'
import { exitDifferent, OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { readText } from '../files.ts'
import { visible } from '../texts.ts'
import { openSigned } from './checkpoints.ts'
import {
  decodedHashes,
  leafFieldsOf,
  type ProofFile,
  type ProvenEvent,
  parseProofFile,
  problemOf,
} from './proofFile.ts'
import { requireVerifiers, verifierOption } from './verifier.ts'

export const auditCheckProof = defineCommand({
  summary: 'Verify the proof of a payment offline, with nothing but the verifier key',
  args: ['FILE'],
  options: verifierOption,
  json: 'one object: whether the proof is valid, the first problem, and what is proven',
  about: [
    'Checks the signature of the checkpoint, and that the log that it signed has each of the events, with exactly these',
    'bytes. Neither a server nor Postgres is needed. A proof ends at a revision: later events of the payment may exist.',
    '',
    'Exits with 0 when everything is proven, with 3 when something is wrong, and with 1 when the file cannot be read.',
  ],
  async run({ args: [path], options, environment }) {
    const verifiers = requireVerifiers(options.key, environment)
    const file = parseProofFile(readText(path))
    if ('problem' in file) {
      if (!file.isForged) throw new OpsError(`${path} ${file.problem}`)
      const json = { valid: false, problem: file.problem, payment: null }
      return { json, problem: `${path} ${file.problem}.`, exitCode: exitDifferent }
    }
    const checked = checkProof(file, verifiers)
    if (!('problem' in checked)) return { json: checkedJson(file, checked), text: checkedText(file, checked) }
    const json = { valid: false, problem: checked.problem, payment: file.payment }
    return { json, problem: `${path} proves nothing: ${checked.problem}.`, exitCode: exitDifferent }
  },
})

/** @returns the checkpoint, or the first thing that is wrong */
export function checkProof(
  file: ProofFile,
  verifiers: readonly VerifierKey[],
): Checkpoint | { readonly problem: string } {
  const checkpoint = openSigned(file.checkpoint, 'the checkpoint', verifiers)
  if ('reason' in checkpoint) return { problem: `${checkpoint.source}: ${checkpoint.reason}` }
  if (file.events.length === 0) return { problem: 'it has no events' }
  let previous = -1
  for (const [place, event] of file.events.entries()) {
    const name = visible(`${event.stream}@${event.revision} (${event.type})`)
    if (event.stream !== paymentStream(file.payment)) return { problem: `${name} is not an event of the payment` }
    if (event.revision !== String(place)) return { problem: `revision ${place} is missing before ${name}` }
    if (event.index <= previous) return { problem: `${name} is not in the order of the log` }
    previous = event.index
    const problem = problemOf(() => requireIncluded(event, checkpoint))
    if (problem !== undefined) return { problem: `${name}: ${problem}` }
  }
  return checkpoint
}

/** @throws ProofError */
function requireIncluded(event: ProvenEvent, { size, root }: Checkpoint): void {
  const hash = leafHash(leafFieldsOf(event))
  verifyInclusion({ index: event.index, size, leafHash: hash, root, proof: decodedHashes(event.proof) })
}

function checkedJson({ payment, events }: ProofFile, { origin, size }: Checkpoint) {
  return {
    valid: true,
    problem: null,
    payment,
    checkpoint: { origin, size },
    proven_up_to: { revision: events.at(-1)?.revision, index: events.at(-1)?.index },
    /** A proof cannot show that there are none. */
    later_events_may_exist: true,
    events: events.map((event) => ({
      index: event.index,
      revision: event.revision,
      type: event.type,
      occurred_at: occurredAt(event),
    })),
  }
}

function checkedText({ payment, events }: ProofFile, { origin, size }: Checkpoint): string {
  const last = events.at(-1)
  const rows = events.map((event) =>
    [event.revision, event.type, occurredAt(event) ?? '-', String(event.index)].map(visible),
  )
  return [
    `Proven by ${visible(origin)}, which signed the first ${size} events of its log: payment ${visible(payment)} has these events.`,
    '',
    table(['Revision', 'Event', 'Occurred', 'Leaf'], rows),
    '',
    'Their contents in the file are the bytes that were recorded.',
    `This proves the payment up to revision ${last?.revision}, leaf ${last?.index} of the log. Later events of it may exist: a proof cannot show`,
    'that there are none.',
  ].join('\n')
}

/** As the event tells it. */
function occurredAt({ data }: ProvenEvent): string | null {
  try {
    const content: unknown = JSON.parse(data ?? '')
    const time =
      typeof content === 'object' && content !== null && 'occurred_at' in content ? content.occurred_at : null
    return typeof time === 'string' ? time : null
  } catch {
    return null
  }
}
