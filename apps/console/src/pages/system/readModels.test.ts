import t from 'tap'
import type { ProjectionReport } from '../../api/apiTypes.ts'
import { readModelState } from './readModels.ts'

const live = {
  ...{ table: 'payments_v1', version: 1, state: 'live' as const, since: '2026-01-31T12:00:00.000Z' },
  ...{ schema_version: 3, position: '4711', rows: 24, bytes: 100 },
}
const report: ProjectionReport = {
  ...{ projection: 'payments', schema_version: 3, is_running: true, is_rebuilding: false, is_verifying: false },
  ...{ lag: { events: 0, is_more: false, seconds: 0 }, stopped_because: null, tables: [live] },
}

t.test('the state of a read model is a word, and advice where somebody has to do something', async (t) => {
  const states: readonly (readonly [Partial<ProjectionReport>, object])[] = [
    [{}, { word: 'up to date', tone: 'good', advice: undefined }],
    [{ lag: { events: 7, is_more: false, seconds: 3 } }, { word: '3 s behind', tone: 'busy', advice: undefined }],
    [
      { lag: { events: 5_000, is_more: true, seconds: 180 } },
      { word: '3 min behind', advice: /more than 5,000 events/ },
    ],
    [{ lag: null }, { word: 'not known', tone: 'warn' }],
    [
      { is_running: false, lag: null },
      { word: 'not running', tone: 'bad', advice: /Start the projector/ },
    ],
    [{ stopped_because: 'event 12@3 is unknown' }, { word: 'stopped', tone: 'bad', advice: /event 12@3 is unknown/ }],
    [{ tables: [{ ...live, schema_version: 2 }] }, { word: 'older version', advice: /version 2, this program has 3/ }],
    [{ tables: [] }, { word: 'being prepared' }],
  ]
  for (const [more, expected] of states) t.match(readModelState({ ...report, ...more }), expected, JSON.stringify(more))
})
