// Proofs of a payment without a system: what is accepted, and each way in which a file can be wrong.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointText } from '@paylog/audit-log/checkpoint'
import { leafData } from '@paylog/audit-log/leaf'
import { newSigningKey, parseSigningKey, parseVerifierKey, signNote } from '@paylog/audit-log/note'
import { inclusionProof } from '@paylog/audit-log/proofs'
import { memoryTree } from '@paylog/audit-log/testing/memoryTree'
import { treeRoot } from '@paylog/audit-log/tree'
import t from 'tap'
import { runOps } from '../testing/runOps.ts'
import { checkProof } from './checkProof.ts'
import { format, leafFieldsOf, type ProofFile, parseProofFile, provenEvent } from './proofFile.ts'

const payment = randomUUID()
const origin = 'paylog.example/log'
const { signingKey, verifierKey } = newSigningKey(origin)
const verifier = parseVerifierKey(verifierKey)

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
const log = [event('other-1', 0), event(stream, 0), event('other-1', 1), event(stream, 1), event(stream, 2)]
const tree = memoryTree(log.map(leafData))

async function proofFile(size = log.length): Promise<ProofFile> {
  const root = await treeRoot(size, tree.read)
  const checkpoint = signNote(checkpointText({ origin, size, root }), parseSigningKey(signingKey))
  const events = await Promise.all(
    [1, 3, 4].map(async (index) => {
      const recorded = log[index] ?? event(stream, 0)
      return provenEvent(recorded, index, await inclusionProof(index, size, tree.read))
    }),
  )
  return { format, payment, checkpoint, events }
}

const file = await proofFile()
const [first, second, third] = file.events
if (first === undefined || second === undefined || third === undefined) throw new Error('The proof has three events')
const withSecond = (changes: Partial<typeof second>): ProofFile => ({
  ...file,
  events: [first, { ...second, ...changes }, third],
})

t.test('a proof has the exact bytes of its events, and is accepted', async (t) => {
  t.match(checkProof(file, [verifier]), { origin, size: 5, root: await treeRoot(5, tree.read) })
  t.equal(second.data?.includes('\n'), true)
  t.same(leafFieldsOf(second).metadata, Buffer.of(0xff))
})

const { data: _, ...withoutData } = second

t.test('the first thing that is wrong with a proof is named', (t) => {
  const otherKey = parseVerifierKey(newSigningKey('other.example').verifierKey)
  const wrong: readonly (readonly [ProofFile, RegExp])[] = [
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
    [withSecond({ index: 5 }), /has no leaf 5$/],
    [withSecond({ index: 1 }), /is not in the order of the log$/],
    [withSecond({ stream: 'payment-other' }), /is not an event of the payment$/],
    [withSecond({ revision: '5' }), /^revision 1 is missing before/],
    [withSecond({ proof: [] }), /too short/],
    [withSecond({ proof: [...second.proof, ...second.proof] }), /too long/],
    [withSecond({ proof: second.proof.with(0, '!') }), /has a hash that is none/],
    [{ ...file, events: [first, third] }, /^revision 1 is missing before payment-.*@2/],
    [{ ...file, events: [second, third] }, /^revision 0 is missing/],
    [{ ...file, events: [] }, /^it has no events$/],
    [
      { ...file, checkpoint: file.checkpoint.replace('\n5\n', '\n6\n') },
      /^the checkpoint: The signature of .* is wrong$/,
    ],
    [{ ...file, checkpoint: 'none' }, /^the checkpoint: /],
    [{ ...file, payment: randomUUID() }, /is not an event of the payment$/],
  ]
  for (const [changed, problem] of wrong) t.match(checkProof(changed, [verifier]), { problem })
  t.match(checkProof(file, [otherKey]), { problem: /^the checkpoint: The note has no signature of a known key$/ })
  t.end()
})

t.test('audit check-proof needs the key and the file only, and exits with 3 when a bit is flipped', async (t) => {
  const directory = t.testdir({ key: `${verifierKey}\n` })
  const path = join(directory, 'proof.json')
  writeFileSync(path, JSON.stringify(file))
  const check = (...flags: readonly string[]) =>
    runOps(['audit', 'check-proof', path, ...flags], { DATA_DIR: directory })
  const proven = await check('--key', verifierKey)
  t.match(proven, { code: 0, stderr: '' })
  t.match(proven.stdout, /^Proven by paylog\.example\/log, which signed the first 5 events of its log/)
  t.match(proven.stdout, / {2}1 +Step1 +2026-11-02T00:00:00\.000Z +3\n/)
  t.match(proven.stdout, /up to revision 2, leaf 4 of the log\. Later events of it may exist/)
  const { verifierKey: further } = newSigningKey(origin)
  t.match(await check('--key', `${further},${verifierKey}`), { code: 0 }, 'with the key of a later time too')
  const json = JSON.parse((await check('--key', join(directory, 'key'), '--json')).stdout)
  t.match(json, {
    valid: true,
    payment,
    checkpoint: { origin, size: 5 },
    proven_up_to: { revision: '2', index: 4 },
    later_events_may_exist: true,
    events: [{ type: 'Step0', index: 1 }, {}, {}],
  })
  t.match(await check(), { code: 2, stderr: /--key is missing/ })
  t.match(await check('--key', 'nowhere'), { code: 1, stderr: /neither a verifier key nor a file/ })
  writeFileSync(path, JSON.stringify(withSecond({ data: second.data?.replace('word', 'ward') ?? '' })))
  t.match(await check('--key', verifierKey), { code: 3, stderr: /proof\.json proves nothing: payment-.*@1 \(Step1\)/ })
  t.match(JSON.parse((await check('--key', verifierKey, '--json')).stdout), { valid: false })
  for (const [from, to] of [
    ['"payment":', '"amount":"100.00","payment":'],
    ['"proof":', '"note":"refunded","proof":'],
    ['"stream":', '"stream":"payment-other","stream":'],
    ['"format":', '"p\\u0061yment":"other","format":'],
  ] as const) {
    writeFileSync(path, JSON.stringify(file).replace(from, to))
    t.match(await check('--key', verifierKey), { code: 3, stderr: /proves nothing: it has / }, `with ${to}`)
  }
  writeFileSync(path, '{"format":2}')
  t.match(await check('--key', verifierKey), {
    code: 1,
    stderr: /has format 2, and this program supports format 1 only/,
  })
})

t.test('a file that is no proof is named as such', (t) => {
  t.match(parseProofFile('{'), { problem: 'is not JSON' })
  t.match(parseProofFile('[]'), { problem: /^is not the proof of a payment/ })
  t.match(parseProofFile(JSON.stringify({ ...file, events: [{}] })), { problem: /^is not the proof of a payment/ })
  t.end()
})
