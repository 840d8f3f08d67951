// How everything does, on one screen: whether it works, the money of a period, payments over time, and what needs attention.
import { getRouteApi } from '@tanstack/react-router'
import { timeZoneOf } from '../../format/time.ts'
import { usePreferences } from '../../layout/Preferences.tsx'
import { Page } from '../../parts/Page.tsx'
import { AttentionPanel } from './AttentionPanel.tsx'
import { MoneyOfPeriod } from './MoneyOfPeriod.tsx'
import { defaultPeriod, type OverviewSearch, overviewDays } from './overviewSearch.ts'
import { PaymentStatistics } from './PaymentStatistics.tsx'
import { PeriodChoice } from './PeriodChoice.tsx'
import { StateLine } from './StateLine.tsx'

const route = getRouteApi('/')

export function OverviewPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { zone } = usePreferences()
  const timeZone = timeZoneOf(zone)
  const days = overviewDays(search.period, timeZone, Date.now())
  const change = (changes: OverviewSearch) =>
    void navigate({ search: (now) => ({ ...now, ...changes }), replace: true })
  return (
    <Page
      title="Overview"
      lead={<StateLine />}
      actions={
        <PeriodChoice
          value={search.period ?? defaultPeriod}
          timeZone={timeZone}
          change={(period) => change({ period: period === defaultPeriod ? undefined : period })}
        />
      }
    >
      <div className="panels">
        <MoneyOfPeriod days={days} timeZone={timeZone} />
        <PaymentStatistics search={search} days={days} change={change} />
        <AttentionPanel />
      </div>
    </Page>
  )
}
