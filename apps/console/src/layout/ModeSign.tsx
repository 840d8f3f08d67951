// Says in the frame whether real money moves.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { providersQuery } from '../api/frameQueries.ts'
import { useMay } from '../session/rights.ts'
import { type Mode, modeOf } from './mode.ts'

const texts: Readonly<Record<Mode, readonly [word: string, explanation: string]>> = {
  live: ['Live', 'Real money moves'],
  mixed: ['Live and test', 'Real money moves at some providers; others are in test mode'],
  test: ['Test', 'No real money moves: every provider is in test mode'],
  sandbox: ['Sandbox', 'No real money moves: the sandbox is the only provider'],
}

/** Nothing before it is known, and without a provider. */
export function ModeSign() {
  const may = useMay()
  const { data } = useQuery({ ...providersQuery, enabled: may('listProviders') })
  const mode = modeOf(data ?? [])
  if (mode === null) return null
  const [word, explanation] = texts[mode]
  return (
    <Link to="/providers" className="modeSign" data-mode={mode} title={explanation}>
      {word}
    </Link>
  )
}
