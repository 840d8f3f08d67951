// The steps of `npm run demo -- audit`: a payment is proven, its payer erased, the log changed, and the
// change found.

import { settlePayment } from '@paylog/commands/payments/sandboxReports'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { StartError } from '../terminal.ts'
import { createOps } from './opsCommand.ts'
import { demoGuest, paymentForAdministrators, startPayment, succeededPayment } from './payment.ts'

type AuditDemo = {
  readonly print: (text: string) => void
  readonly baseUrl: string
  readonly store: EventStore
  readonly sandboxSecret: string
  /** Of the system's processes. */
  readonly environment: NodeJS.ProcessEnv
  /** For files that somebody outside would keep. The checkpoints are published in its directory `checkpoints`. */
  readonly directory: string
  readonly verifierKey: string
  /** Runs a statement in the database of the embedded event store. */
  readonly sql: (statement: string, values: readonly unknown[]) => Promise<unknown>
}

export async function runAuditSteps(demo: AuditDemo): Promise<void> {
  const { print, environment, directory, verifierKey } = demo
  const ops = createOps({ print, environment, directory })
  // An auditor has neither the system's environment nor its data directory.
  const auditor = createOps({ print, environment: { PATH: environment.PATH, DATA_DIR: directory }, directory })

  await pay(demo)
  const id = await pay(demo)
  print(`\n2. A guest has paid twice 22.00 EUR. The second payment is ${id}.`)

  print('\n3. Its events are proven by the next signed checkpoint of the log. The proof is a file:\n')
  await ops(0, 'audit', 'prove', 'payment', id, '--out', 'proof.json')
  print('\n   An auditor verifies it with nothing but the public key:\n')
  await auditor(0, 'audit', 'check-proof', 'proof.json', '--key', verifierKey)

  print('\n4. The guest asks to be forgotten:\n')
  await ops(0, 'privacy', 'erase', '--email', demoGuest().email, '--reason', 'asked by e-mail')
  const { guest_email, total_cents, status } = await paymentForAdministrators(demo.baseUrl, id)
  if (guest_email !== null) throw new StartError(`The payment still has the e-mail ${guest_email}.`)
  print(`\n   The payment has ${total_cents} cents, is ${status}, and has no e-mail any more.`)
  print('   Its events did not change, so they are proven as before:\n')
  await ops(0, 'audit', 'prove', 'payment', id, '--out', 'erased.json')
  await auditor(0, 'audit', 'check-proof', 'erased.json', '--key', verifierKey)

  print('\n5. The whole log is what was signed:\n')
  await ops(0, 'audit', 'verify', '--against', 'checkpoints')

  const position = await changeAmount(demo, id)
  print('\n6. Somebody with access to the disk makes 2.20 EUR of the 22.00 EUR, in a row of the event store.')

  print('\n7. And is caught:\n')
  const found = await ops(3, 'audit', 'verify', '--against', 'checkpoints')
  if (!found.includes(`Position ${position}: ${paymentStream(id)}@0 `))
    throw new StartError(`The change at position ${position} was not found.`)
  print('\n   The changed payment can no longer be proven, and the file from before still is:\n')
  await ops(3, 'audit', 'prove', 'payment', id, '--out', 'changed.json')
  await auditor(0, 'audit', 'check-proof', 'proof.json', '--key', verifierKey)
}

async function pay({ store, baseUrl, sandboxSecret: secret }: AuditDemo): Promise<string> {
  const { id } = await startPayment(baseUrl)
  await settlePayment({ store, baseUrl, secret, paymentId: id, outcome: 'succeeded' })
  await succeededPayment(baseUrl, id)
  return id
}

/** @returns the position of the changed event */
async function changeAmount({ store, sql }: AuditDemo, id: string): Promise<string> {
  const [first] = await store.readStream(paymentStream(id), { limit: 1 })
  if (first === undefined) throw new StartError(`Payment ${id} has no events.`)
  await sql(
    `update event_store.events
     set data = convert_to(replace(convert_from(data, 'UTF8'), '"total_cents":2200', '"total_cents":220'), 'UTF8')
     where position = $1`,
    [String(first.position.commit)],
  )
  return String(first.position.commit)
}
