// `audit check-proof`: verifies the proof of a payment with nothing but the verifier key.
import { VerificationError } from '@paylog/client/errors'
import { type ProvenPayment, verifyPaymentProof } from '@paylog/client/verifyProof'
import { table } from '@paylog/runtime/process/table'
import { exitDifferent, OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { readText } from '../files.ts'
import { visible } from '../texts.ts'
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
    const keys = requireVerifiers(options.key, environment).map(({ verifierKey }) => verifierKey)
    try {
      const proven = await verifyPaymentProof(readText(path), keys)
      return { json: provenJson(proven), text: provenText(proven) }
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error
      const problem = visible(error.message)
      if (error.of !== 'proof')
        throw new OpsError(`${path} is not the proof of a payment: ${problem}`, { cause: error })
      return {
        json: { valid: false, problem },
        problem: `${path} proves nothing: ${problem}.`,
        exitCode: exitDifferent,
      }
    }
  },
})

function provenJson({ payment, checkpoint, events }: ProvenPayment) {
  return {
    valid: true,
    problem: null,
    payment,
    checkpoint,
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

function provenText({ payment, checkpoint: { origin, size }, events }: ProvenPayment): string {
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
function occurredAt({ data }: ProvenPayment['events'][number]): string | null {
  try {
    const content: unknown = JSON.parse(data ?? '')
    const time =
      typeof content === 'object' && content !== null && 'occurred_at' in content ? content.occurred_at : null
    return typeof time === 'string' ? time : null
  } catch {
    return null
  }
}
