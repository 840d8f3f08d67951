// What is done with the commands of each section of the README, in its order.
import { type Block, commandsOf, synopsesOf } from './readme.ts'
import type { Session } from './session.ts'

type Section = (blocks: readonly Block[], visit: Session) => Promise<void>

/** By heading. A section with commands that is not here is a mistake of this table. */
export const sections: Readonly<Record<string, Section>> = {
  'Run it': async (blocks, visit) => {
    for (const command of blocks.flatMap(commandsOf)) {
      if (command === 'npm start') visit.system = await visit.start(command, '\nready')
      else visit.leaveOut(command, 'CI runs it in a clean checkout')
    }
  },
  'A tour': async (blocks, visit) => {
    const tour = blocks.slice(0, -2)
    const [listen = '', again = ''] = blocks.slice(-2).flatMap(commandsOf)
    const shown = await visit.run(tour.map(({ text }) => text).join('\n'), [
      '"status":"pending"',
      ' is succeeded.',
      '"status":"succeeded"',
      'PaymentSucceeded',
      '"code":"not_found"',
      '"address_type":"billing"',
      '"payment_method":{',
      '"deleted":true',
      '"successful":1',
      '"name":"Annual membership"',
    ])
    visit.payment = /^[0-9a-f-]{36}$/m.exec(shown)?.[0] ?? ''
    const listener = visit.shell.start(listen)
    await visit.system?.interrupt()
    visit.system = await visit.start(again, '\nready')
    await visit.run(tour[0]?.text ?? '')
    await visit.await(listen, listener, '"event":"payment.created"')
    await listener.interrupt()
  },
  Webhooks: async (blocks, visit) => {
    const [operating, trying] = blocks
    // Tried out first, so that there is something to redeliver.
    if (trying) await visit.run(trying.text, ['"canonical_events":["payment.succeeded"]', '"event_type":'])
    const logged = await visit.shell.run(
      "curl -s 'http://127.0.0.1:8080/webhooks/logs' -H 'X-Session-ID: demo-admin-session'",
    )
    const [, delivery = ''] = /"id":"([^"]+)"/.exec(logged.output) ?? []
    for (const command of operating ? commandsOf(operating) : [])
      await visit.run(command.replace('<id>', delivery).replace('<position>', '0').replace('--node 2', '--node 1'))
  },
  Deployment: async (blocks, visit) => {
    for (const command of blocks.flatMap(commandsOf)) {
      if (!/^docker-compose|^deploy\/pinImages\.sh/.test(command)) await visit.run(command)
      else visit.leaveOut(command, 'needs a Docker engine')
    }
  },
  Operations: async (blocks, visit) => {
    for (const { words, options } of blocks.flatMap(commandsOf).flatMap(synopsesOf))
      await visit.run(`npm run -s ops -- ${words} --help`, options)
  },
  'Read models': async (blocks, visit) => {
    for (const command of blocks.flatMap(commandsOf)) await visit.run(command, ['payments'])
  },
  'The audit trail': async (blocks, visit) => {
    // The time that is printed lies before the payment, which has no past then.
    const now = new Date().toISOString()
    for (const command of blocks.flatMap(commandsOf))
      await visit.run(command.replace('<id>', visit.payment).replace(/--at \S+/, `--at ${now}`))
  },
}
