import t from 'tap'
import { dashboard } from '../testing/monitoringFixture.ts'

const { panels, templating, schemaVersion } = dashboard
const shown = panels.filter(({ type }) => type !== 'row')

t.test('the dashboard imports into recent versions of Grafana', async (t) => {
  t.ok(schemaVersion >= 36, 'data sources are named by type and uid')
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'panel ids are unique')
  t.equal(new Set(panels.map(({ title }) => title)).size, panels.length, 'panel titles are unique')
})

t.test('every panel queries the selected data source', async (t) => {
  t.ok(templating.list.some(({ name, type }) => name === 'datasource' && type === 'datasource'))
  for (const { title, datasource, targets = [] } of shown) {
    t.same(datasource, { type: 'prometheus', uid: `$${'{datasource}'}` }, title)
    t.ok(targets.length > 0 && targets.every(({ expr }) => expr.trim() !== ''), `${title} has expressions`)
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, `${title} has unique refIds`)
  }
})

t.test('every variable is defined by the dashboard or by Grafana', async (t) => {
  const known = new Set([...templating.list.map(({ name }) => name), '__rate_interval'])
  for (const { title, targets = [] } of shown)
    for (const { expr } of targets)
      for (const [, name = ''] of expr.matchAll(/\$\{?(\w+)/g)) t.ok(known.has(name), `${title} uses ${name}`)
})

t.test('no panel overlaps another or leaves the grid', async (t) => {
  const taken = new Map<string, string>()
  for (const { title, gridPos } of panels) {
    t.ok(gridPos.x >= 0 && gridPos.w > 0 && gridPos.h > 0 && gridPos.x + gridPos.w <= 24, `${title} is on the grid`)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        const other = taken.get(`${x} ${y}`)
        if (other !== undefined) t.fail(`${title} overlaps ${other}`)
        taken.set(`${x} ${y}`, title)
      }
  }
})

t.test('every dashboard row has panels', async (t) => {
  for (const [index, { type, title }] of panels.entries())
    if (type === 'row') t.not(panels[index + 1]?.type ?? 'row', 'row', title)
})
