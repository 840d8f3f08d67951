// How to run the commands of each page and section, in this order.
import { type Block, commandsOf, synopsesOf } from './readme.ts'
import type { Visit } from './visit.ts'

type Section = (blocks: readonly Block[], visit: Visit) => Promise<void>
type Page = {
  readonly page: string
  /** By heading: the sections that are not run as printed. They come first. */
  readonly sections?: Readonly<Record<string, Section>>
}

/** Commands that cannot run here, with the reason. */
const unrunnable = [
  [/^docker |^deploy\/pinImages\.sh/, 'needs a Docker engine'],
  [/^kubectl |^cp -r deploy\/kubernetes/, 'needs a Kubernetes cluster'],
  [/^ops audit restart/, 'it refuses a tree that is in order'],
] as const

/** `ops` alone is the command in a container. The commands after a restore change nothing when log and database fit. */
export const runAsPrinted: Section = async (blocks, visit) => {
  for (const command of blocks.flatMap(commandsOf)) {
    const [, reason] = unrunnable.find(([pattern]) => pattern.test(command)) ?? []
    if (reason !== undefined) visit.skip(command, reason)
    else await visit.run(command.replace(/^ops /, 'npm run -s ops -- ').replace('POSITION', '0'))
  }
}

export const pages: readonly Page[] = [
  {
    page: 'README.md',
    sections: {
      'Run it': async (blocks, visit) => {
        for (const command of blocks.flatMap(commandsOf)) {
          if (command === 'npm start') visit.system = await visit.start(command, '\nready')
          else visit.skip(command, 'CI runs it in a clean checkout')
        }
      },
      'With Docker': async (blocks, visit) => {
        for (const { text } of blocks) visit.skip(text.split('\n')[0] ?? '', 'the tests of the containers run it')
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
          '"amount_cents":500',
          '"address_type":"billing"',
          '"payment_method":{',
          '"deleted":true',
        ])
        visit.payment = /^[0-9a-f-]{36}$/m.exec(shown)?.[0] ?? ''
        const listener = visit.shell.start(listen)
        await visit.system?.interrupt()
        visit.system = await visit.start(again, '\nready')
        await visit.run(tour[0]?.text ?? '')
        await visit.await(listen, listener, '"event":"payment.created"')
        await listener.interrupt()
      },
    },
  },
  {
    page: 'docs/webhooks.md',
    sections: {
      // Retries needs the delivery.
      'Try an endpoint': async ([trying, log], visit) => {
        await visit.run(trying?.text ?? '', ['"canonical_events":["payment.succeeded"]'])
        const output = await visit.runUntilShown(log?.text ?? '', '"event_type":')
        visit.delivery = /^\[\{"id":"([^"]+)"/m.exec(output)?.[1] ?? ''
      },
      Retries: async (blocks, visit) => {
        for (const command of blocks.flatMap(commandsOf))
          await visit.run(
            command.replace('<id>', visit.delivery).replace('<position>', '0').replace('--node 2', '--node 1'),
          )
      },
    },
  },
  {
    page: 'docs/providers.md',
    sections: {
      Products: async ([commands], visit) => {
        await visit.run(commands?.text ?? '', ['"successful":1', '"name":"Annual membership"'])
      },
    },
  },
  {
    page: 'docs/operations.md',
    sections: {
      Commands: async (blocks, visit) => {
        for (const { words, options } of blocks.flatMap(commandsOf).flatMap(synopsesOf))
          await visit.run(`npm run -s ops -- ${words} --help`, options)
      },
      'From EventStoreDB to KurrentDB': async (blocks, visit) => {
        for (const command of blocks.flatMap(commandsOf)) visit.skip(command, 'needs a Docker engine')
      },
    },
  },
  {
    page: 'docs/audit.md',
    sections: {
      Audit: async (blocks, visit) => {
        // The payment does not exist yet at the printed time.
        const now = new Date().toISOString()
        for (const command of blocks.flatMap(commandsOf)) {
          // On a fast machine the first checkpoint, after a minute, is still to come.
          if (command.endsWith('audit verify')) await visit.runUntilShown(command, 'The log is proven up to position')
          else await visit.run(command.replace('<id>', visit.payment).replace(/--at \S+/, `--at ${now}`))
        }
      },
    },
  },
  { page: 'docs/privacy.md' },
  { page: 'docs/deployment.md' },
]
