import { projections } from '@paylog/projections/registry'
import t from 'tap'
import { runOps } from '../testing/runOps.ts'
import { chosenProjections } from './replayEach.ts'

const allNames = projections.map(({ name }) => name)

t.test('projections commands reject invalid arguments', async (t) => {
  const known = `Known projections: ${allNames.join(', ')}.`
  const wrong: readonly (readonly [string, string])[] = [
    ['rebuild payment', `Unknown projection payment. ${known}`],
    ['verify payments none', `Unknown projection none. ${known}`],
    ['prune none', `Unknown projection none. ${known}`],
    ['rebuild', 'NAME or --all is missing'],
    ['verify --json', 'NAME or --all is missing'],
    ['rebuild --all payments', 'Give names of projections or --all, not both'],
    ['list payments', 'Unexpected argument: payments'],
    ['prune --all', "Unknown option '--all'"],
  ]
  for (const [args, stderr] of wrong)
    t.match(await runOps(['projections', ...args.split(' ')]), { code: 2, stdout: '', stderr }, args)
})

t.test('chosenProjections returns the named projections once each and in order, or all', (t) => {
  const names = (given: readonly string[], isAll: boolean) => chosenProjections(given, isAll).map(({ name }) => name)
  t.same(names(['products', 'payments', 'products'], false), ['products', 'payments'])
  t.same(names([], true), allNames)
  t.end()
})
