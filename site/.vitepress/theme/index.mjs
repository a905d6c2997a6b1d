// The default theme, with tables that use the width of a page.
import theme from "vitepress/theme";
import "./style.css";

export default theme;
