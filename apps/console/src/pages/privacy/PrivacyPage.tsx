// Erasing people: what would go, then the erasure, and what was erased.
import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useMay } from '../../session/rights.ts'
import { ErasePanel } from './ErasePanel.tsx'
import { ErasuresPanel } from './ErasuresPanel.tsx'
import { linkedPerson } from './person.ts'

const route = getRouteApi('/privacy')

export function PrivacyPage() {
  const linked = linkedPerson(route.useSearch())
  const may = useMay()
  return (
    <Page title="Privacy" lead="Erase the personal data of a person, and see what was erased">
      <div className="panels">
        {may('createErasure') && <ErasePanel key={`${linked.kind} ${linked.value}`} linked={linked} />}
        <ErasuresPanel />
        <Panel title="What is known of a person">
          <p>
            Everything that is recorded of somebody, as one file for them, is written on the command line:{' '}
            <code>ops privacy export --email ADDRESS --out FILE</code>. It is not sealed: hand it over, and delete it.
          </p>
        </Panel>
      </div>
    </Page>
  )
}
