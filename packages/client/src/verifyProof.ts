// Verifies the proof of a payment, with nothing but the verifier key of the log. Apart from the client, so that pages that only call
// the API do not bundle it.
import { VerificationError } from './errors.ts'
import { type PaymentProof, type ProvenEvent, parseProof } from './proofFile.ts'
import { fromBase64, isSame, isWellFormed, joined, openNote, sha256, utf8 } from './signedNote.ts'

/** What a proof proves: that the log had these events, with exactly these bytes, when it was signed. Later ones may exist. */
export type ProvenPayment = {
  /** The id of the payment. */
  readonly payment: string
  /** `size`: the number of events in the log that was signed. */
  readonly checkpoint: { readonly origin: string; readonly size: number }
  /** All events of the payment up to the last of them. */
  readonly events: readonly ProvenEvent[]
}

/**
 * Verifies the signature of the checkpoint, and that the log that it signed has each of the events.
 * @param text the file, as GET /admin/payments/{id}/proof returns it
 * @param verifierKeys of the log, from somebody whom you trust: not from the system that you check. One of them must have signed
 * @throws VerificationError
 */
export async function verifyPaymentProof(
  text: string,
  verifierKeys: string | readonly string[],
): Promise<ProvenPayment> {
  const proof = parseProof(text)
  const keys = [verifierKeys].flat()
  const checkpoint = await openCheckpoint(proof.checkpoint, keys)
  requireWhole(proof)
  for (const event of proof.events) await requireIncluded(event, checkpoint)
  const { origin, size } = checkpoint
  return { payment: proof.payment, checkpoint: { origin, size }, events: proof.events }
}

type Checkpoint = { readonly origin: string; readonly size: number; readonly root: Uint8Array }

async function openCheckpoint(note: string, keys: readonly string[]): Promise<Checkpoint> {
  const { text, signers } = await openNote(note, keys)
  const form = /^(?<origin>.+)\n(?<size>0|[1-9]\d*)\n(?<hash>[A-Za-z0-9+/]+=)\n(?:.+\n)*$/u
  const { origin = '', size = '', hash = '' } = form.exec(text)?.groups ?? {}
  const root = fromBase64(hash)
  if (root?.length !== hashBytes || !Number.isSafeInteger(Number(size)))
    throw wrong('The text is not a checkpoint: origin, size and root, each on its line')
  if (!signers.includes(origin)) throw wrong(`The checkpoint is one of ${origin}, not of ${signers.join(', ')}`)
  return { origin, size: Number(size), root }
}

const wrong = (message: string) => new VerificationError('proof', message)

/** The events must be all of the payment's, from its first one, in the order of the log. @throws VerificationError */
function requireWhole({ payment, events }: PaymentProof): void {
  if (events.length === 0) throw wrong('it has no events')
  let previous = -1
  for (const [place, event] of events.entries()) {
    const name = nameOf(event)
    if (event.stream !== `payment-${payment}`) throw wrong(`${name} is not an event of the payment`)
    if (event.revision !== String(place)) throw wrong(`revision ${place} is missing before ${name}`)
    if (event.index <= previous) throw wrong(`${name} is not in the order of the log`)
    previous = event.index
  }
}

const nameOf = ({ stream, revision, type }: ProvenEvent) => `${stream}@${revision} (${type})`

/** @throws VerificationError unless the tree of the checkpoint has the event, as in RFC 9162, section 2.1.3.2 */
async function requireIncluded(event: ProvenEvent, { size, root }: Checkpoint): Promise<void> {
  const fail = (problem: string) => wrong(`${nameOf(event)}: ${problem}`)
  const proof = event.proof.map(fromBase64)
  let [node, last] = [event.index, size - 1]
  if (node > last) throw fail(`A tree with ${size} leaves has no leaf ${node}`)
  let reached = await sha256(leafPrefix, leafOf(event, fail))
  for (const sibling of proof) {
    if (sibling?.length !== hashBytes) throw fail('The proof has a hash that is none')
    if (last === 0) throw fail('The proof is too long for a tree of this size')
    if (isOdd(node) || node === last) {
      reached = await sha256(nodePrefix, sibling, reached)
      while (!isOdd(node) && node !== 0) [node, last] = [parent(node), parent(last)]
    } else {
      reached = await sha256(nodePrefix, reached, sibling)
    }
    ;[node, last] = [parent(node), parent(last)]
  }
  if (last !== 0) throw fail('The proof is too short for a tree of this size')
  if (!isSame(reached, root)) throw fail('The proof leads to another root')
}

const hashBytes = 32
const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)
// Sizes may exceed the 32 bits of bit operations.
const isOdd = (value: number) => value % 2 === 1
const parent = (value: number) => Math.floor(value / 2)

type Fail = (problem: string) => VerificationError

/** The bytes that the leaf of an event commits to, as docs/audit.md has them. */
function leafOf(event: ProvenEvent, fail: Fail): Uint8Array {
  const { stream, revision, id, type } = event
  const head = new DataView(new ArrayBuffer(9))
  head.setUint8(0, 1)
  head.setBigUint64(1, BigInt(revision))
  const metadata = contentOf('metadata', event.metadata, event.metadata_base64, fail)
  const data = contentOf('data', event.data, event.data_base64, fail)
  const parts = [utf8(stream), utf8(id), utf8(type), metadata, data]
  return joined([new Uint8Array(head.buffer), ...parts.flatMap((part) => [sizeOf(part), part])])
}

function sizeOf({ length }: Uint8Array): Uint8Array {
  const size = new DataView(new ArrayBuffer(4))
  size.setUint32(0, length)
  return new Uint8Array(size.buffer)
}

function contentOf(name: string, text: string | undefined, base64: string | undefined, fail: Fail): Uint8Array {
  if (text !== undefined && base64 !== undefined) throw fail(`It has both ${name} and ${name}_base64`)
  if (text === undefined && base64 === undefined) throw fail(`It has neither ${name} nor ${name}_base64`)
  const bytes = text === undefined ? fromBase64(base64 ?? '') : utf8(text)
  // Readers differ in what they see in another text of the same bytes.
  if (bytes === undefined || (text !== undefined && !isWellFormed(text)))
    throw fail(`Its ${name} is not a text of bytes`)
  return bytes
}
