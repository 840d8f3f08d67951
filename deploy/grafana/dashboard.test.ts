import t from 'tap'
import { dashboard } from '../testing/monitoringFixture.ts'

const { panels, templating, schemaVersion } = dashboard
const shown = panels.filter(({ type }) => type !== 'row')

t.test('Grafana of the last years takes it as it is', async (t) => {
  t.ok(schemaVersion >= 36, 'data sources are named by type and uid')
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'every panel has an id of its own')
  t.equal(new Set(panels.map(({ title }) => title)).size, panels.length, 'and a title')
})

t.test('every panel asks something, of the data source that is chosen', async (t) => {
  t.ok(templating.list.some(({ name, type }) => name === 'datasource' && type === 'datasource'))
  for (const { title, datasource, targets = [] } of shown) {
    t.same(datasource, { type: 'prometheus', uid: `$${'{datasource}'}` }, title)
    t.ok(targets.length > 0 && targets.every(({ expr }) => expr.trim() !== ''), `${title} has expressions`)
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, `${title} names them apart`)
  }
})

t.test('every variable is one of the dashboard, or of Grafana', async (t) => {
  const known = new Set([...templating.list.map(({ name }) => name), '__rate_interval'])
  for (const { title, targets = [] } of shown)
    for (const { expr } of targets)
      for (const [, name = ''] of expr.matchAll(/\$\{?(\w+)/g)) t.ok(known.has(name), `${title} uses ${name}`)
})

t.test('no panel lies on another, or leaves the grid', async (t) => {
  const taken = new Map<string, string>()
  for (const { title, gridPos } of panels) {
    t.ok(gridPos.x >= 0 && gridPos.w > 0 && gridPos.h > 0 && gridPos.x + gridPos.w <= 24, `${title} is on the grid`)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        const other = taken.get(`${x} ${y}`)
        if (other !== undefined) t.fail(`${title} lies on ${other}`)
        taken.set(`${x} ${y}`, title)
      }
  }
})

t.test('every row has panels', async (t) => {
  for (const [index, { type, title }] of panels.entries())
    if (type === 'row') t.not(panels[index + 1]?.type ?? 'row', 'row', title)
})
