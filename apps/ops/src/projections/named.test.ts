import { projections } from '@paylog/projections/registry'
import t from 'tap'
import { UsageError } from '../command.ts'
import { contextOf } from '../testing/runOps.ts'
import { projectionsList } from './list.ts'
import { projectionsPrune } from './prune.ts'
import { projectionsRebuild } from './rebuild.ts'
import { chosenProjections } from './replayEach.ts'
import { projectionsVerify } from './verify.ts'

const allNames = projections.map(({ name }) => name)
const context = contextOf({ environment: {}, print: async () => {} })

t.test('projections commands reject invalid arguments', async (t) => {
  const known = `Known projections: ${allNames.join(', ')}.`
  const wrong = [
    { command: projectionsRebuild, args: ['payment'], expected: `Unknown projection payment. ${known}` },
    { command: projectionsVerify, args: ['payments', 'none'], expected: `Unknown projection none. ${known}` },
    { command: projectionsPrune, args: ['none'], expected: `Unknown projection none. ${known}` },
    { command: projectionsRebuild, args: [], expected: 'NAME or --all is missing' },
    { command: projectionsVerify, args: ['--json'], expected: 'NAME or --all is missing' },
    {
      command: projectionsRebuild,
      args: ['--all', 'payments'],
      expected: 'Give names of projections or --all, not both',
    },
    { command: projectionsList, args: ['payments'], expected: 'Unexpected argument: payments' },
    { command: projectionsPrune, args: ['--all'], expected: /^Unknown option '--all'/ },
  ]
  for (const { command, args, expected } of wrong)
    await t.rejects(command.run(args, context), { constructor: UsageError, message: expected }, JSON.stringify(args))
})

t.test('chosenProjections returns the named projections once each and in order, or all', (t) => {
  const names = (given: readonly string[], isAll: boolean) => chosenProjections(given, isAll).map(({ name }) => name)
  t.same(names(['products', 'payments', 'products'], false), ['products', 'payments'])
  t.same(names([], true), allNames)
  t.end()
})
