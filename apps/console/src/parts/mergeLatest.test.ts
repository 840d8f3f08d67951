import t from 'tap'
import { mergeLatest } from './mergeLatest.ts'

const key = (row: { id: string }) => row.id
const row = (id: string, status = 'pending') => ({ id, status })

t.test('mergeLatest updates shown rows where they are and counts new ones', async (t) => {
  const shown = [row('b'), row('a')]
  const latest = [row('d'), row('c'), row('b', 'succeeded')]
  t.same(mergeLatest(shown, latest, key), { rows: [row('b', 'succeeded'), row('a')], newCount: 2 })
})

t.test('mergeLatest keeps everything as it is when nothing is new', async (t) => {
  const shown = [row('b'), row('a')]
  t.same(mergeLatest(shown, shown, key), { rows: shown, newCount: 0 })
  t.same(mergeLatest([], [row('a')], key), { rows: [], newCount: 1 })
})
