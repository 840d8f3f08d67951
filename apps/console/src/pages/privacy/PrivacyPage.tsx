// Erasing people, and who was erased.
import { Page } from '../../parts/Page.tsx'
import { ErasuresPanel } from './ErasuresPanel.tsx'

export function PrivacyPage() {
  return (
    <Page title="Privacy" lead="Erase the personal data of a person, and see what was erased">
      <ErasuresPanel />
    </Page>
  )
}
