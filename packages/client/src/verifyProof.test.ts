// Proofs of a payment: what is accepted, and each way in which a file can be wrong. Node has the WebCrypto of browsers.
import { randomUUID } from 'node:crypto'
import { checkpointText } from '@paylog/audit-log/checkpoint'
import { leafData } from '@paylog/audit-log/leaf'
import { newSigningKey, parseSigningKey, signNote } from '@paylog/audit-log/note'
import { type PaymentProof, proofFormat, provenEvent } from '@paylog/audit-log/paymentProof'
import { inclusionProof } from '@paylog/audit-log/proofs'
import { memoryTree } from '@paylog/audit-log/testing/memoryTree'
import { treeRoot } from '@paylog/audit-log/tree'
import t from 'tap'
import { VerificationError } from './errors.ts'
import { verifyPaymentProof } from './verifyProof.ts'

const payment = randomUUID()
const origin = 'paylog.example/log'
const { signingKey, verifierKey } = newSigningKey(origin)

function event(stream: string, revision: number) {
  const data = Buffer.from(`{"occurred_at":"2026-11-0${revision + 1}T00:00:00.000Z",\n"word":"ñ"}`)
  return {
    stream,
    revision: BigInt(revision),
    id: randomUUID(),
    type: `Step${revision}`,
    metadata: Buffer.of(0xff),
    data,
  }
}
const stream = `payment-${payment}`
const others = Array.from({ length: 10 }, (_, revision) => event('other-1', revision))
const [other0 = event('other-1', 0), other1 = event('other-1', 1), ...later] = others
const log = [other0, event(stream, 0), other1, event(stream, 1), event(stream, 2), ...later]
const tree = memoryTree(log.map(leafData))

/** @param size of the signed tree */
async function proofFile(size = 5): Promise<PaymentProof> {
  const root = await treeRoot(size, tree.read)
  const checkpoint = signNote(checkpointText({ origin, size, root }), parseSigningKey(signingKey))
  const events = await Promise.all(
    [1, 3, 4].map(async (index) => {
      const recorded = log[index] ?? event(stream, 0)
      return provenEvent(recorded, index, await inclusionProof(index, size, tree.read))
    }),
  )
  return { format: proofFormat, payment, checkpoint, events }
}

const file = await proofFile()
const [first, second, third] = file.events
if (first === undefined || second === undefined || third === undefined) throw new Error('The proof has three events')
const withSecond = (changes: Partial<typeof second>): PaymentProof => ({
  ...file,
  events: [first, { ...second, ...changes }, third],
})

const verify = (proof: object, keys: string | readonly string[] = verifierKey) =>
  verifyPaymentProof(JSON.stringify(proof), keys)

/** @returns what is wrong, and of what */
async function problemOf(verifying: Promise<unknown>): Promise<readonly [of: string, message: string]> {
  try {
    await verifying
  } catch (error) {
    if (error instanceof VerificationError) return [error.of, error.message]
    throw error
  }
  return ['none', 'it is accepted']
}

t.test('a proof with the right signature and hashes is accepted, and says what it proves', async (t) => {
  t.same(await verify(file), { payment, checkpoint: { origin, size: 5 }, events: file.events })
  t.equal(second.data?.includes('\n'), true)
  t.equal(second.metadata_base64, '/w==')
  const { verifierKey: further } = newSigningKey(origin)
  t.match(await verify(file, [further, ` ${verifierKey}\n`]), { payment }, 'with the key of a later time too')
  for (let size = 6; size <= log.length; size++) t.match(await verify(await proofFile(size)), { checkpoint: { size } })
})

const { data: _, ...withoutData } = second

t.test('the first thing that is wrong with a proof is named', async (t) => {
  const wrong: readonly (readonly [PaymentProof, RegExp])[] = [
    [
      withSecond({ data: second.data?.replace('11-02', '11-03') ?? '' }),
      /^payment-.*@1 \(Step1\): The proof leads to another root$/,
    ],
    [withSecond({ metadata_base64: '/g==' }), /leads to another root$/],
    [withSecond({ data_base64: 'e30=' }), /@1 \(Step1\): It has both data and data_base64$/],
    [withSecond({ metadata: '{}' }), /It has both metadata and metadata_base64$/],
    [{ ...file, events: [first, withoutData, third] }, /It has neither data nor data_base64$/],
    [withSecond({ metadata_base64: '/x==' }), /Its metadata is not a text of bytes$/],
    [withSecond({ id: randomUUID() }), /leads to another root$/],
    [withSecond({ type: 'Step9' }), /\(Step9\): The proof leads to another root$/],
    [withSecond({ index: 2 }), /^payment-.*@1/],
    [{ ...file, events: [first, second, { ...third, index: 5 }] }, /has no leaf 5$/],
    [withSecond({ index: 1 }), /is not in the order of the log$/],
    [withSecond({ stream: 'payment-other' }), /is not an event of the payment$/],
    [withSecond({ revision: '5' }), /^revision 1 is missing before/],
    [withSecond({ proof: [] }), /too short/],
    [withSecond({ proof: [...second.proof, ...second.proof] }), /too long/],
    [withSecond({ proof: second.proof.with(0, '!') }), /has a hash that is none/],
    [{ ...file, events: [first, third] }, /^revision 1 is missing before payment-.*@2/],
    [{ ...file, events: [second, third] }, /^revision 0 is missing/],
    [{ ...file, events: [] }, /^it has no events$/],
    [{ ...file, checkpoint: file.checkpoint.replace('\n5\n', '\n6\n') }, /^The signature of .* is wrong$/],
    [{ ...file, checkpoint: 'none' }, /^The note has no signatures$/],
    [{ ...file, payment: randomUUID() }, /is not an event of the payment$/],
  ]
  for (const [changed, problem] of wrong) t.match(await problemOf(verify(changed)), ['proof', problem])
  const other = newSigningKey('other.example').verifierKey
  t.match(await problemOf(verify(file, other)), ['proof', /^The note has no signature of a known key$/])
  t.match(await problemOf(verify(file, [])), ['proof', /^The note has no signature of a known key$/])
})

t.test('members that nothing proves are rejected', async (t) => {
  for (const [from, to] of [
    ['"payment":', '"amount":"100.00","payment":'],
    ['"proof":', '"note":"refunded","proof":'],
    ['"stream":', '"stream":"payment-other","stream":'],
    ['"format":', '"p\\u0061yment":"other","format":'],
  ] as const) {
    const text = JSON.stringify(file).replace(from, to)
    t.match(
      await problemOf(verifyPaymentProof(text, verifierKey)),
      ['proof', /has .*(twice|not a part of a proof)$/],
      to,
    )
  }
})

t.test('what is no proof, and no key, is named as such', async (t) => {
  t.match(await problemOf(verifyPaymentProof('{', verifierKey)), ['file', 'it is not JSON'])
  t.match(await problemOf(verify([])), ['file', 'it is not an object'])
  t.match(await problemOf(verify({ format: 2 })), ['file', /has format 2, and this program supports format 1 only/])
  t.match(await problemOf(verify({ ...file, events: [{}] })), ['file', 'index of event 0 is missing or wrong'])
  t.match(await problemOf(verify({ ...file, checkpoint: undefined })), ['file', 'checkpoint of it is missing or wrong'])
  t.match(await problemOf(verify(file, 'key')), ['key', /not an Ed25519 key/])
  const otherId = verifierKey.replace(/(?<=\+)[0-9a-f]/, (digit) => (digit === '0' ? '1' : '0'))
  t.match(await problemOf(verify(file, otherId)), ['key', /does not have the id/])
})
