// How payments and the system do, on one screen.
import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { ProcessesPanel } from '../system/ProcessesPanel.tsx'
import { OpenDisputes, PaymentsWithAttention } from './Attention.tsx'
import { DeliveryBacklog, ProjectionLag } from './Operations.tsx'
import { PaymentStatistics } from './PaymentStatistics.tsx'

const route = getRouteApi('/')

export function OverviewPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page title="Overview">
      <div className="panels">
        <PaymentStatistics
          search={search}
          change={(changes) => void navigate({ search: (now) => ({ ...now, ...changes }), replace: true })}
        />
        <div className="columns">
          <PaymentsWithAttention />
          <OpenDisputes />
        </div>
        <div className="columns">
          <ProjectionLag />
          <DeliveryBacklog />
        </div>
        <ProcessesPanel />
      </div>
    </Page>
  )
}
