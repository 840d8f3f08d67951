import t from 'tap'
import { UsageError } from '../command.ts'
import { contextOf } from '../testing/runOps.ts'
import { projectionsList } from './list.ts'
import { projectionsPrune } from './prune.ts'
import { projectionsRebuild } from './rebuild.ts'
import { chosenProjections } from './replayEach.ts'
import { projectionsVerify } from './verify.ts'

const context = contextOf({ environment: {}, print: async () => {} })

t.test('projections commands reject invalid arguments', async (t) => {
  const known = 'Known projections: payments, payment_methods, addresses, products.'
  const wrong = [
    { command: projectionsRebuild, args: ['payment'], says: `Unknown projection payment. ${known}` },
    { command: projectionsVerify, args: ['payments', 'none'], says: `Unknown projection none. ${known}` },
    { command: projectionsPrune, args: ['none'], says: `Unknown projection none. ${known}` },
    { command: projectionsRebuild, args: [], says: 'NAME or --all is missing' },
    { command: projectionsVerify, args: ['--json'], says: 'NAME or --all is missing' },
    { command: projectionsRebuild, args: ['--all', 'payments'], says: 'Give names of projections or --all, not both' },
    { command: projectionsList, args: ['payments'], says: 'Unexpected argument: payments' },
    { command: projectionsPrune, args: ['--all'], says: /^Unknown option '--all'/ },
  ]
  for (const { command, args, says } of wrong)
    await t.rejects(command.run(args, context), { constructor: UsageError, message: says }, JSON.stringify(args))
})

t.test('chosenProjections returns the named projections once each and in order, or all', (t) => {
  const names = (given: readonly string[], isAll: boolean) => chosenProjections(given, isAll).map(({ name }) => name)
  t.same(names(['products', 'payments', 'products'], false), ['products', 'payments'])
  t.same(names([], true), ['payments', 'payment_methods', 'addresses', 'products'])
  t.end()
})
