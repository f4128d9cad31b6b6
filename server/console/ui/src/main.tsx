import { render } from 'preact';
import './style.css';
import { App } from './app';
import { applyTheme } from './theme';

applyTheme();
render(<App />, document.getElementById('app')!);
