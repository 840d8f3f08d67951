// The command that checks a proof, without a system. `packages/client` tests each way in which a file can be wrong.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointText } from '@paylog/audit-log/checkpoint'
import { leafData } from '@paylog/audit-log/leaf'
import { newSigningKey, parseSigningKey, signNote } from '@paylog/audit-log/note'
import { type PaymentProof, proofFormat, provenEvent } from '@paylog/audit-log/paymentProof'
import { inclusionProof } from '@paylog/audit-log/proofs'
import { memoryTree } from '@paylog/audit-log/testing/memoryTree'
import { treeRoot } from '@paylog/audit-log/tree'
import t from 'tap'
import { runOps } from '../testing/runOps.ts'

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
const log = [event('other-1', 0), event(stream, 0), event('other-1', 1), event(stream, 1), event(stream, 2)]
const tree = memoryTree(log.map(leafData))

async function proofFile(size = log.length): Promise<PaymentProof> {
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
  const forge = (from: string, to: string) => writeFileSync(path, JSON.stringify(file).replace(from, to))
  forge('11-02T', '11-03T')
  t.match(await check('--key', verifierKey), { code: 3, stderr: /proof\.json proves nothing: payment-.*@1 \(Step1\)/ })
  t.match(JSON.parse((await check('--key', verifierKey, '--json')).stdout), { valid: false })
  forge('"payment":', '"amount":"100.00","payment":')
  t.match(await check('--key', verifierKey), { code: 3, stderr: /proves nothing: it has "amount"/ })
  writeFileSync(path, '{"format":2}')
  t.match(await check('--key', verifierKey), {
    code: 1,
    stderr: /has format 2, and this program supports format 1 only/,
  })
})
