// `privacy export`: all that is known of a person, for them.

import { type Erasing, findPerson, type Person } from '@paylog/administration/privacy/erase'
import { paymentEvents } from '@paylog/domain/payments/events'
import { sealedKeyword } from '@paylog/domain/personalData'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { projections } from '@paylog/projections/registry'
import { deliveriesOfStreams } from '@paylog/webhooks/deliveries/operations/deliveriesOfStreams'
import { defineCommand } from '../defineCommand.ts'
import { writeNewFile } from '../files.ts'
import { text } from '../options.ts'
import { personOptions, personUsage, readPerson, requireKnown, throwUnknown } from './person.ts'

export const privacyExport = defineCommand({
  summary: 'Write all that is known of a person, as JSON',
  usage: `${personUsage} [--out FILE] [--reason TEXT]`,
  options: { ...personOptions, out: text('FILE', 'a new file that only you can read; standard output without it') },
  audited: 'reason',
  about: [
    'One object: every event of the person with its data, the rows of the read models, the webhook deliveries with what the',
    'endpoints responded, and the customers at the providers. It reads the whole log to find them.',
    '',
    'Exits with 3 when nothing is known of the person.',
  ],
  onInterrupt: 'finishes',
  async run({ options, open, progress, signal, audit }) {
    const subject = readPerson(options)
    const [providers, keys] = [await open.providers(), await open.keys()]
    const opened = { providers, keys, store: await open.store(keys), pool: open.pool(), now: () => new Date() }
    const person = await findPerson(opened, subject, {
      signal,
      onProgress: (step, scan) => progress.show(scan ? { step, done: scan.events, unit: 'events' } : { step }),
    }).catch(throwUnknown)
    requireKnown(person.findings)
    await audit(exportAction(person))
    const content = JSON.stringify(await collect(opened, person), null, 2)
    if (options.out === undefined) return { text: content }
    await writeNewFile(options.out, `${content}\n`)
    return undefined
  },
})

/** Never names an e-mail. */
function exportAction({ subject, findings: { user_ids, keys } }: Person) {
  const [user] = user_ids
  const target =
    'payment' in subject
      ? { kind: 'payment', id: subject.payment }
      : user === undefined
        ? null
        : { kind: 'user', id: user }
  return { action: 'export_person', target, details: { keys, user_ids } } as const
}

async function collect({ store, pool }: Erasing, { traces, findings }: Person): Promise<object> {
  const { user_ids, provider_customers } = findings
  const streams: object[] = []
  for (const stream of traces.streams) streams.push({ stream, events: (await store.readStream(stream)).map(eventJson) })
  // The person's part of payments that belong to others.
  const guest_in_payments: object[] = []
  for (const stream of traces.guestStreams)
    guest_in_payments.push(...(await store.readStream(stream)).filter(({ sealed }) => sealed.guest).map(guestJson))
  return {
    exported_at: new Date().toISOString(),
    user_ids,
    streams,
    guest_in_payments,
    read_models: await rowsOf(pool, traces.streams),
    deliveries: await deliveriesOfStreams(pool, traces.streams),
    provider_customers,
  }
}

const eventJson = ({ id, type, revision, created, data, metadata }: Recorded) => ({
  ...{ id, type, revision: Number(revision), created: created.toISOString(), data, metadata },
})

const guestFields = Object.entries(paymentEvents.PaymentInitiated.properties).flatMap(([name, schema]) =>
  sealedKeyword in schema && schema[sealedKeyword] === 'guest' ? [name] : [],
)

/** Nothing else of the event is the guest's. */
function guestJson({ id, type, stream, created, data }: Recorded) {
  const known = Object.entries(data).filter(([name]) => guestFields.includes(name))
  return { ...{ id, type, stream, created: created.toISOString() }, data: Object.fromEntries(known) }
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The rows that came from these streams, by the name of their read model. */
async function rowsOf(pool: Erasing['pool'], streams: readonly string[]) {
  const ids = streams.flatMap((stream) => uuid.exec(stream)?.[0] ?? [])
  const found: Record<string, readonly object[]> = {}
  for (const { name, columns } of projections) {
    const ofPayment = 'payment_id' in columns ? 'or payment_id = any($1)' : ''
    const { rows } = await pool.query<{ resource: object }>(
      `select to_jsonb(r) as resource from read_models.${name} as r where id = any($1) ${ofPayment} order by id`,
      [ids],
    )
    found[name] = rows.map(({ resource }) => resource)
  }
  return found
}
